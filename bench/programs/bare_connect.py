"""The floor of connect.py: the same servers and lists with the SDK alone: bare_connect.py COUNT"""

import asyncio
import sys
import time

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from nobody import STDIO


async def connect(done: asyncio.Event, ready: asyncio.Semaphore) -> None:
    async with Client(stdio_client(StdioServerParameters(command=STDIO[0], args=list(STDIO[1:])))) as client:
        await client.list_tools()
        ready.release()
        await done.wait()


async def main(count: int) -> None:
    done, ready = asyncio.Event(), asyncio.Semaphore(0)
    began = time.monotonic()
    tasks = [asyncio.create_task(connect(done, ready)) for _ in range(count)]
    for _ in range(count):
        await ready.acquire()
    print((time.monotonic() - began) * 1000)
    done.set()
    await asyncio.gather(*tasks)


asyncio.run(main(int(sys.argv[1])))
