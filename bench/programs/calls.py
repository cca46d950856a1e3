"""Calls of one MCP tool in a row, made with Hermes: calls.py COUNT [URL] prints the milliseconds of own CPU of one."""

import asyncio
import sys

from nobody import Nobody, opened, own

from hermes.mcp.contract import CallTool

ECHO = CallTool("echo", {"text": "a line of text as tools are given"})


async def main(count: int, url: str) -> None:
    async with opened(url) as server:
        caller = Nobody()
        for _ in range(count // 10):
            await server.request(ECHO, caller)
        before = own()
        for _ in range(count):
            await server.request(ECHO, caller)
        print((own() - before) / count)


asyncio.run(main(int(sys.argv[1]), *sys.argv[2:] or [""]))
