"""Many processes that write to one database at once: writers_child.py DATABASE PROCESSES WRITES prints each one's count.

They are forked from a process that has imported what they need and started nothing yet, so that the writing is what counts.
"""

import asyncio
import os
import sys
from pathlib import Path

from hermes.protocol.events import Event, Notice
from hermes.protocol.store import Batch, SessionRow
from hermes.store.owner import this_process
from hermes.store.sqlite import SqliteStore


async def write(database: Path, name: str, count: int) -> int:
    """Commit so many events one by one; returns how many were acknowledged."""
    me = this_process()
    async with SqliteStore(database) as store:
        await store.create(SessionRow(id=name, source="cli", model="m", cwd="/", started=1.0), Batch(), me)
        for seq in range(1, count + 1):
            event = Event(session=name, at=1.0, seq=seq, body=Notice(f"{name} {seq}"))
            await store.append(name, me, Batch(events=(event,)))
    return count


def main(database: Path, processes: int, writes: int) -> None:
    children: list[int] = []
    for number in range(processes):
        if (pid := os.fork()) == 0:
            name = f"w{number}"
            os.write(1, f"{name} {asyncio.run(write(database, name, writes))}\n".encode())
            os._exit(0)
        children.append(pid)
    for pid in children:
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
