"""When the power goes, everything that was acknowledged is there afterwards, and the database is sound.

The store runs on a disk that writes down what it is told. A cut keeps what had been synced by then; of what had not, the
disk may have kept nothing, all, or any part: single writes, in any order, and halves of them. A file that was removed is
gone once any file was synced afterwards, as on every file system with a journal.
"""

import asyncio
import os
import random
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import apsw
import pytest

from hermes.protocol.events import Event, Notice
from hermes.protocol.store import Batch, SessionRow
from hermes.store import lane
from hermes.store.owner import this_process
from hermes.store.rows import fetch
from hermes.store.schema import integrity
from hermes.store.sqlite import SqliteStore

ME = this_process()
STORES, EVENTS = 3, 25


class Write(NamedTuple):
    file: str
    data: bytes
    at: int


class Cut(NamedTuple):
    """A file that was made shorter, or removed where `to` is -1."""

    file: str
    to: int


class Synced(NamedTuple):
    """A file whose steps up to a place are on the disk: the sync began there, and has come to its end here."""

    file: str
    upto: int


class Acknowledged(NamedTuple):
    session: str
    seq: int


Step = Write | Cut | Synced | Acknowledged


class Disk(apsw.VFS):
    """SQLite's files as they are, and a list of what was done to them."""

    def __init__(self) -> None:
        super().__init__("disk", "unix", makedefault=True)
        self.steps: list[Step] = []

    def xOpen(self, name, flags):
        return File(self, name, flags)

    def xDelete(self, filename: str, syncdir: bool) -> None:
        super().xDelete(filename, syncdir)
        self.steps.append(Cut(Path(filename).name, -1))

    def sync(self, file: str, really: Callable[[], None]) -> None:
        upto = len(self.steps)
        really()
        self.steps.append(Synced(file, upto))


class File(apsw.VFSFile):
    def __init__(self, disk: Disk, name, flags: list[int]) -> None:
        super().__init__("unix", name, flags)
        self.disk = disk
        self.name = Path(name.filename() if isinstance(name, apsw.URIFilename) else name).name

    def xWrite(self, data, offset: int) -> None:
        super().xWrite(data, offset)
        self.disk.steps.append(Write(self.name, bytes(data), offset))

    def xTruncate(self, newsize: int) -> None:
        super().xTruncate(newsize)
        self.disk.steps.append(Cut(self.name, newsize))

    def xSync(self, flags: int) -> None:
        self.disk.sync(self.name, partial(super().xSync, flags))


@pytest.fixture
def disk(monkeypatch):
    disk = Disk()
    really = lane.put_on_disk

    def put_on_disk(file: int) -> None:
        disk.sync(Path(os.readlink(f"/proc/self/fd/{file}")).name, partial(really, file))

    monkeypatch.setattr(lane, "put_on_disk", put_on_disk)
    yield disk
    disk.unregister()


async def write(path: Path, disk: Disk) -> None:
    """Several stores, as of several processes, write at once, and often enough for the log to be used again and again."""

    async def one(name: str) -> None:
        async with SqliteStore(path) as store:
            await store.create(SessionRow(id=name, source="cli", model="m", cwd="/", started=1.0), Batch(), ME)
            await store._writer.read(lambda db: fetch(db, "PRAGMA wal_autocheckpoint=12"))
            for seq in range(1, EVENTS + 1):
                event = Event(session=name, at=1.0, seq=seq, body=Notice(f"{name} {seq} " + "x" * 40 * seq))
                await store.append(name, ME, Batch(events=(event,)))
                disk.steps.append(Acknowledged(name, seq))

    await asyncio.gather(*[one(f"s{n}") for n in range(STORES)])


def keep_nothing(step: Write | Cut) -> list[Write | Cut]:
    return []


def keep_all(step: Write | Cut) -> list[Write | Cut]:
    return [step]


def keep_some(step: Write | Cut) -> list[Write | Cut]:
    if isinstance(step, Write) and random.random() < 0.3:
        half = step.data[: len(step.data) // 2]
        return [step._replace(data=half)]
    return [step] if random.random() < 0.5 else []


def left_behind(steps: list[Step], folder: Path, keep: Callable[[Write | Cut], list[Write | Cut]]) -> None:
    """The files as a disk leaves them whose power goes after these steps."""
    synced: dict[str, int] = {}
    for step in steps:
        if isinstance(step, Synced):
            synced[step.file] = max(step.upto, synced.get(step.file, 0))
    files: dict[str, bytearray] = {}
    for place, step in enumerate(steps):
        if not isinstance(step, Write | Cut):
            continue
        removed = isinstance(step, Cut) and step.to < 0
        certain = place < (max(synced.values(), default=0) if removed else synced.get(step.file, 0))
        for kept in [step] if certain else keep(step):
            data = files.setdefault(kept.file, bytearray())
            match kept:
                case Write(data=new, at=at):
                    data.extend(bytes(max(0, at - len(data))))
                    data[at : at + len(new)] = new
                case Cut(to=-1):
                    del files[kept.file]
                case Cut(to=to):
                    del data[to:]
    for name, data in files.items():
        (folder / name).write_bytes(data)


async def test_what_was_acknowledged_is_there_after_a_power_cut_at_any_moment(tmp_path, disk):
    random.seed(20)
    home = tmp_path / "home"
    home.mkdir()
    await write(home / "state.db", disk)
    steps = list(disk.steps)
    first = next(place for place, step in enumerate(steps) if isinstance(step, Acknowledged))
    assert sum(isinstance(step, Write) and step.file == "state.db-wal" and step.at == 0 for step in steps) > 3
    asked = 0
    for cut in sorted({*random.sample(range(first, len(steps)), 120), *range(first, first + 60)}):
        for keep in (keep_nothing, keep_all, keep_some):
            after = tmp_path / f"{cut} {keep.__name__}"
            after.mkdir()
            left_behind(steps[: cut + 1], after, keep)
            acknowledged = {step.session: step.seq for step in steps[: cut + 1] if isinstance(step, Acknowledged)}
            async with SqliteStore(after / "state.db") as store:
                await store._writer.read(integrity)
                for session, seq in acknowledged.items():
                    found = [event.seq for event in await store.events(session)]
                    assert found == list(range(1, len(found) + 1))
                    assert len(found) >= seq, (cut, keep.__name__)
                    asked += 1
    assert asked > 1000
