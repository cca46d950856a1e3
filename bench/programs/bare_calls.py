"""The floor of calls.py: the same calls, made with the SDK alone: bare_calls.py COUNT [URL]"""

import asyncio
import sys

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from nobody import STDIO, own


async def main(count: int, url: str) -> None:
    started = StdioServerParameters(command=STDIO[0], args=list(STDIO[1:]))
    async with Client(url or stdio_client(started)) as client:
        args = {"text": "a line of text as tools are given"}
        for _ in range(count // 10):
            await client.call_tool("echo", args)
        before = own()
        for _ in range(count):
            await client.call_tool("echo", args)
        print((own() - before) / count)


asyncio.run(main(int(sys.argv[1]), *sys.argv[2:] or [""]))
