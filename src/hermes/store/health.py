"""The database from outside: how it is, a consistent copy of it, and what crashed processes left behind in it.

Nothing here migrates or repairs: it can be asked of a database that is damaged, locked, or of another Hermes's making.
"""

import os
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Literal

import apsw
import msgspec
from msgspec import Struct

from hermes.protocol.errors import StoreError
from hermes.protocol.terminals import ProcessInfo
from hermes.store import owner as owners
from hermes.store.lane import translate
from hermes.store.schema import VERSION, integrity

PATIENCE = 2_000
"""Milliseconds that a database may be busy before it counts as locked."""
SECONDS = 10.0
"""As long as its pages are checked; a very large database is then sound as far as was looked."""
PAGES = 1_000
"""Pages that are copied at a time, so that those who write need not wait for the whole."""

State = Literal["none", "ok", "old", "new", "damaged", "locked", "unreadable"]


class Health(Struct, frozen=True):
    """How a database is: its schema against ours, its bytes, those of its write-ahead log, and what is wrong in words."""

    state: State
    schema: int = 0
    size: int = 0
    wal: int = 0
    problem: str = ""


def examine(path: Path) -> Health:
    """Look at a database without changing it. Blocks."""
    if not path.exists():
        return Health("none")
    sizes = path.stat().st_size, _size(wal_of(path))
    try:
        with closing(_open(path)) as connection:
            schema = _schema(connection)
            if schema > VERSION:
                return Health("new", schema, *sizes)
            _check_pages(connection)
            # A lock for writing, given back at once: nobody else holds it.
            connection.execute("BEGIN IMMEDIATE").fetchall()
            connection.execute("ROLLBACK").fetchall()
    except (apsw.BusyError, apsw.LockedError) as error:
        return Health("locked", 0, *sizes, str(error))
    except (StoreError, apsw.CorruptError, apsw.NotADBError) as error:
        return Health("damaged", 0, *sizes, str(error))
    except apsw.Error as error:
        return Health("unreadable", 0, *sizes, str(error))
    return Health("old" if schema < VERSION else "ok", schema, *sizes)


def empty_wal(path: Path) -> None:
    """Bring what the write-ahead log holds into the database, as far as nobody is reading it. Blocks."""
    with closing(_open(path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


def copy(path: Path, target: Path) -> None:
    """A consistent copy, made while others write. Blocks."""
    try:
        with closing(_open(path)) as source, closing(apsw.Connection(str(target))) as made:
            target.chmod(0o600)
            with made.backup("main", source, "main") as backup:
                while not backup.done:
                    _step(backup)
            made.execute("PRAGMA journal_mode=DELETE").fetchall()
    except apsw.Error as error:
        raise translate(error, path) from error


def _step(backup: apsw.Backup) -> None:
    try:
        backup.step(PAGES)
    except (apsw.BusyError, apsw.LockedError):
        time.sleep(0.01)


def in_use(path: Path) -> list[str]:
    """The sessions that a living process has open; none in a file that cannot be read as a database. Blocks."""
    if not path.exists():
        return []
    try:
        with closing(_open(path)) as connection:
            rows = connection.execute("SELECT id, owner, beat FROM sessions WHERE owner != ''").fetchall()
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError):
        return []
    except apsw.Error as error:
        raise translate(error, path) from error
    return [str(name) for name, owner, beat in rows if owners.lives(str(owner), float(str(beat)), time.time())]


def left_running(path: Path) -> list[ProcessInfo]:
    """Background processes of sessions whose owner is gone, as they were last written down. Blocks."""
    query = "SELECT info, owner, beat FROM processes JOIN sessions ON n = session"
    with closing(_open(path)) as connection:
        rows = connection.execute(query).fetchall()
    now = time.time()
    return [
        msgspec.json.decode(str(info), type=ProcessInfo)
        for info, owner, beat in rows
        if not (owner and owners.lives(str(owner), float(str(beat)), now))
    ]


def wal_of(path: Path) -> Path:
    return path.with_name(f"{path.name}-wal")


def _open(path: Path) -> apsw.Connection:
    writable = os.access(path, os.W_OK)
    flags = apsw.SQLITE_OPEN_READWRITE if writable else apsw.SQLITE_OPEN_READONLY
    connection = apsw.Connection(str(path), flags=flags)
    connection.set_busy_timeout(PATIENCE)
    return connection


def _schema(connection: apsw.Connection) -> int:
    [(version,)] = connection.execute("PRAGMA user_version").fetchall()
    return int(str(version))


def _check_pages(connection: apsw.Connection) -> None:
    end = time.monotonic() + SECONDS
    connection.set_progress_handler(lambda: time.monotonic() > end, 100_000)
    with suppress(apsw.InterruptError):
        integrity(connection)
    connection.set_progress_handler(None)


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
