"""A process that goes on talking in one session and prints each word once it is on disk: talking_child.py DATABASE SESSION COUNT."""

import asyncio
import sys
from pathlib import Path

from hermes.protocol.events import Event, ItemDone
from hermes.protocol.items import Reply
from hermes.protocol.store import Batch, SessionRow
from hermes.store.owner import this_process
from hermes.store.sqlite import SqliteStore


async def main(path: str, name: str, count: int) -> None:
    me = this_process()
    async with SqliteStore(Path(path)) as store:
        await store.create(SessionRow(id=name, source="cli", model="m", cwd="/", started=1.0), Batch(), me)
        for seq in range(1, count + 1):
            item = Reply(id=f"i{seq}", turn=1, step=1, index=seq, text=f"the word is {name}word{seq}")
            await store.append(
                name, me, Batch(events=(Event(session=name, at=float(seq), seq=seq, body=ItemDone(item)),))
            )
            print(f"{name}word{seq}", flush=True)


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
