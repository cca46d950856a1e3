"""One of many that write to a store at once: writer.py DATABASE NAME COUNT

Says "ready", waits for a line, appends one event at a time and prints how many milliseconds each took until it was
acknowledged. It stays until its input ends: interpreters that end would take the cores from those that still write.
"""

import asyncio
import sys
import time
from pathlib import Path

import msgspec

from hermes.protocol.events import Event, Notice
from hermes.protocol.store import Batch, SessionRow
from hermes.store.owner import this_process
from hermes.store.sqlite import SqliteStore


async def main(path: str, name: str, count: int) -> None:
    me = this_process()
    async with SqliteStore(Path(path)) as store:
        await store.create(SessionRow(id=name, source="bench", model="", cwd="/", started=1.0), Batch(), me)
        print("ready", flush=True)
        sys.stdin.readline()
        took: list[float] = []
        for seq in range(1, count + 1):
            event = Event(session=name, at=1.0, seq=seq, body=Notice(f"{name} {seq}"))
            began = time.monotonic()
            await store.append(name, me, Batch(events=(event,)))
            took.append((time.monotonic() - began) * 1000)
        print(msgspec.json.encode(took).decode(), flush=True)
        sys.stdin.read()


asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
