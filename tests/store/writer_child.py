"""A process that commits events one by one and prints how many were acknowledged: writer_child.py DATABASE SESSION COUNT."""

import asyncio
import sys
from pathlib import Path

from hermes.protocol.events import Event, Notice
from hermes.protocol.store import Batch, SessionRow
from hermes.store.owner import this_process
from hermes.store.sqlite import SqliteStore


async def main(path: str, name: str, count: int) -> None:
    me = this_process()
    async with SqliteStore(Path(path)) as store:
        row = SessionRow(id=name, source="cli", model="m", cwd="/", started=1.0)
        await store.create(row, Batch(), me)
        for seq in range(1, count + 1):
            event = Event(session=name, at=1.0, seq=seq, body=Notice(f"{name} {seq}"))
            await store.append(name, me, Batch(events=(event,)))
    print(count)


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
