"""A process that brings the index up to date and says when it has begun and when it is done: indexing_child.py DATABASE."""

import asyncio
import sys
from pathlib import Path

from hermes.learning.recall.search import Search
from hermes.store.sqlite import SqliteStore


async def main(path: str) -> None:
    async with SqliteStore(Path(path)) as store:
        await Search(store.index).catch_up(tell=lambda done: print(done, flush=True))
    print("done", flush=True)


asyncio.run(main(sys.argv[1]))
