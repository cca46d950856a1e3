"""Several MCP servers at once, connected with Hermes: connect.py COUNT prints milliseconds until all lists are there."""

import asyncio
import sys
import time
from contextlib import AsyncExitStack

from nobody import opened


async def main(count: int) -> None:
    async with AsyncExitStack() as stack:
        began = time.monotonic()
        await asyncio.gather(*(stack.enter_async_context(opened()) for _ in range(count)))
        print((time.monotonic() - began) * 1000)


asyncio.run(main(int(sys.argv[1])))
