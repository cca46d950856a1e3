"""The database from outside: what is said of it, and that saying so changes nothing."""

import os
from contextlib import closing
from pathlib import Path

import apsw
import pytest

from hermes.protocol.errors import StoreError
from hermes.protocol.store import Batch, SessionRow
from hermes.protocol.terminals import ProcessInfo
from hermes.store.health import Health, copy, empty_wal, examine, in_use, left_running, wal_of
from hermes.store.owner import this_process
from hermes.store.schema import VERSION
from hermes.store.sqlite import SqliteStore

GONE = f"{os.uname().nodename}:4194305:1:x"
ROW = SessionRow(id="one", source="cli", model="m", cwd="/", started=1.0)
PROCESS = ProcessInfo(id="p1", command="sleep 9", cwd="/", pid=1, started=1.0, start_ticks=1, state="running")


async def make(path: Path, owner: str = GONE) -> None:
    async with SqliteStore(path) as store:
        await store.create(ROW, Batch(), owner)
        await store.save("one", PROCESS)


async def test_a_sound_database_is_ok_and_stays_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    await make(path)
    before = path.read_bytes()
    assert examine(path) == Health("ok", VERSION, len(before))
    assert path.read_bytes() == before


async def test_open_sessions_and_what_dead_ones_left_are_told_apart(tmp_path: Path) -> None:
    await make(tmp_path / "dead.db")
    await make(tmp_path / "alive.db", this_process())
    assert (in_use(tmp_path / "dead.db"), left_running(tmp_path / "dead.db")) == ([], [PROCESS])
    assert (in_use(tmp_path / "alive.db"), left_running(tmp_path / "alive.db")) == (["one"], [])
    assert in_use(tmp_path / "none.db") == []


async def test_a_copy_holds_what_is_only_in_the_write_ahead_log(tmp_path: Path) -> None:
    path, target = tmp_path / "state.db", tmp_path / "copy.db"
    async with SqliteStore(path) as store:
        await store.create(ROW, Batch(), GONE)
        assert wal_of(path).stat().st_size
        copy(path, target)
    with closing(apsw.Connection(str(target))) as connection:
        assert connection.execute("SELECT id FROM sessions").fetchall() == [("one",)]
    assert (target.stat().st_mode & 0o777, wal_of(target).exists()) == (0o600, False)


async def test_the_write_ahead_log_is_emptied(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    async with SqliteStore(path) as store:
        await store.create(ROW, Batch(), GONE)
        empty_wal(path)
        assert wal_of(path).stat().st_size == 0
        assert [row.id for row in await store.sessions()] == ["one"]


def test_what_is_no_database_cannot_be_copied(tmp_path: Path) -> None:
    (tmp_path / "state.db").write_bytes(b"nothing of the kind" * 100)
    assert examine(tmp_path / "state.db").state == "damaged"
    with pytest.raises(StoreError, match="is damaged"):
        copy(tmp_path / "state.db", tmp_path / "copy.db")
