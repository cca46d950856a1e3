"""How many events one writer gets acknowledged in a second, against bare commits of the same rows."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from bench.programs import floor
from bench.stage import Stage
from bench.table import Row
from hermes.protocol.events import Event, ItemDone
from hermes.protocol.items import Reply
from hermes.protocol.store import Batch, SessionRow
from hermes.protocol.wire import encode_body
from hermes.store.owner import this_process
from hermes.store.sqlite import SqliteStore

BODY = ItemDone(Reply(id="item_1", turn=1, step=1, index=0, text="Something that a model said. " * 17))


def measure(stage: Stage) -> Iterator[Row]:
    folder, count = stage.fresh("inserts"), stage.scale(500, 50)
    names = iter(range(1_000_000))
    ours, bare = stage.alternate(
        5,
        lambda: asyncio.run(_append(folder / "state.db", f"s{next(names)}", count)),
        lambda: _insert(folder / "bare.db", count),
    )
    yield Row(
        what="events appended and acknowledged, one by one",
        value=median(ours),
        unit="/s",
        floor=median(bare),
        beside="bare commits of the same rows",
    )


async def _append(path: Path, name: str, count: int) -> float:
    me = this_process()
    async with SqliteStore(path) as store:
        await store.create(SessionRow(id=name, source="bench", model="", cwd="/", started=1.0), Batch(), me)
        began = time.monotonic()
        for seq in range(1, count + 1):
            await store.append(name, me, Batch(events=(Event(session=name, at=1.0, seq=seq, body=BODY),)))
        return count / (time.monotonic() - began)


def _insert(path: Path, count: int) -> float:
    database = floor.open_database(str(path))
    began = time.monotonic()
    for _ in range(count):
        floor.write(database, encode_body(BODY).decode())
    rate = count / (time.monotonic() - began)
    database.close()
    return rate
