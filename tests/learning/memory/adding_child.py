"""A process that adds facts one by one and prints those that were kept: adding_child.py FOLDER NUMBER COUNT."""

import asyncio
import sys
from pathlib import Path

from hermes.learning.memory.entries import Source
from hermes.learning.memory.notebook import Notebook
from hermes.store.sqlite import SqliteStore


async def main(folder: Path, number: int, count: int) -> None:
    async with SqliteStore(folder / "state.db") as store:
        book = Notebook(store.memories, folder / "memories", {"memory": 2200, "user": 1375})
        for each in range(count):
            async with book.change("tool") as draft:
                draft.entries.add("memory", f"fact {each} of {number}", Source("agent"))
            print(each, flush=True)


asyncio.run(main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
