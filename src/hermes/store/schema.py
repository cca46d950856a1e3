"""The tables, and how an older database becomes a newer one.

An event's key is its session's number and its seq in one integer (n << 32 | seq): the table is its own index,
which keeps the database at about 1.2 times the text it holds.
"""

import contextlib
import os
from pathlib import Path
from urllib.parse import quote

import apsw

from hermes.protocol.errors import StoreError
from hermes.store import memory_tables, skills, text_tables, usage

MIGRATIONS = (
    """
    CREATE TABLE sessions(
        n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, title TEXT UNIQUE COLLATE NOCASE,
        source TEXT NOT NULL, parent TEXT NOT NULL, forked_from TEXT NOT NULL, model TEXT NOT NULL, cwd TEXT NOT NULL,
        started REAL NOT NULL, active REAL NOT NULL, ended REAL, end_reason TEXT NOT NULL DEFAULT '',
        seq INTEGER NOT NULL DEFAULT 0, owner TEXT NOT NULL DEFAULT '', beat REAL NOT NULL DEFAULT 0,
        turns INTEGER NOT NULL DEFAULT 0, steps INTEGER NOT NULL DEFAULT 0, calls INTEGER NOT NULL DEFAULT 0,
        messages INTEGER NOT NULL DEFAULT 0, input INTEGER NOT NULL DEFAULT 0, output INTEGER NOT NULL DEFAULT 0,
        cache_read INTEGER NOT NULL DEFAULT 0, cache_write INTEGER NOT NULL DEFAULT 0,
        reasoning INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0, unpriced INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE events(key INTEGER PRIMARY KEY, turn INTEGER NOT NULL, at REAL NOT NULL, body TEXT NOT NULL);
    CREATE TABLE ops(n INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL UNIQUE, session INTEGER NOT NULL,
        at REAL NOT NULL, body TEXT);
    CREATE INDEX ops_pending ON ops(session) WHERE body IS NOT NULL;
    CREATE TABLE journal(session INTEGER NOT NULL, ref TEXT NOT NULL, kind TEXT NOT NULL, detail TEXT NOT NULL,
        at REAL NOT NULL, PRIMARY KEY(session, ref)) WITHOUT ROWID;
    CREATE TABLE blobs(n INTEGER PRIMARY KEY, hash TEXT NOT NULL UNIQUE, media_type TEXT NOT NULL, data BLOB NOT NULL);
    CREATE TABLE blob_uses(blob INTEGER NOT NULL, session INTEGER NOT NULL, PRIMARY KEY(blob, session)) WITHOUT ROWID;
    CREATE INDEX blob_uses_session ON blob_uses(session);
    CREATE TABLE processes(id TEXT PRIMARY KEY, session INTEGER NOT NULL, info TEXT NOT NULL);
    CREATE INDEX processes_session ON processes(session);
    """,
    usage.TABLES,
    text_tables.TABLES,
    memory_tables.TABLES,
    skills.TABLES,
)
VERSION = len(MIGRATIONS)
BUSY = 10_000
"""Milliseconds that SQLite waits for a lock of its own."""
OF_FILE = ("page_size=8192", "journal_mode=WAL")
"""Pages of 8 KB waste less of themselves on items of some KB than the usual 4."""
OF_CONNECTION = ("synchronous=NORMAL", "temp_store=MEMORY")
"""NORMAL leaves the log's way to the disk after a commit to the lane, which sees to it before it acknowledges."""


def open_current(path: Path) -> apsw.Connection | None:
    """A connection to a database that nothing has to be done to first; None if it is not there, or not like that."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    except apsw.Error:
        return None
    with contextlib.suppress(apsw.Error):
        connection.set_busy_timeout(BUSY)
        if _version(connection) == VERSION and connection.execute("PRAGMA journal_mode").fetchall() == [("wal",)]:
            _set(connection, OF_CONNECTION)
            return connection
    connection.close()
    return None


def open_database(path: Path) -> tuple[apsw.Connection, str]:
    """A connection to the database at its newest schema, and why it is read-only if it is ('' if it is not)."""
    connection = apsw.Connection(str(path))
    try:
        connection.set_busy_timeout(BUSY)
        found = _version(connection)
        if found > VERSION:
            connection.close()
            readonly = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
            return readonly, (
                f"{path} was written by a newer Hermes (schema {found}, this one knows {VERSION}): "
                "it is open for reading only; update Hermes to write"
            )
        _set(connection, OF_FILE + OF_CONNECTION)
        if found < VERSION:
            _migrate(connection, path)
        _version(connection)  # a database that has just got a log has its file only after it was read
        return connection, ""
    except BaseException:
        connection.close()
        raise


def open_without_writing(path: Path) -> apsw.Connection:
    """A connection for reading where nothing can be written, because the disk is full or read-only.

    unix-excl keeps the index of the WAL in memory, and nobody else may have the database open meanwhile. Without a WAL
    the file is all there is.
    """
    if path.with_name(f"{path.name}-wal").exists() or os.access(path, os.W_OK):
        return apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE, vfs="unix-excl")
    flags = apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI
    return apsw.Connection(f"file:{quote(str(path))}?immutable=1", flags=flags)


def _set(connection: apsw.Connection, pragmas: tuple[str, ...]) -> None:
    for pragma in pragmas:
        connection.execute(f"PRAGMA {pragma}").fetchall()  # apsw runs a pragma only as its rows are read


def _version(connection: apsw.Connection) -> int:
    [(version,)] = connection.execute("PRAGMA user_version").fetchall()
    return int(str(version))


def _migrate(connection: apsw.Connection, path: Path) -> None:
    """Bring an older database up, all or nothing; a copy of what it was stays beside it."""
    before = _version(connection)
    if before:
        _copy(connection, path.with_name(f"{path.name}.schema-{before}.backup"))
    connection.execute("BEGIN IMMEDIATE")
    try:
        for sql in MIGRATIONS[_version(connection) :]:
            connection.execute(sql).fetchall()
        connection.execute(f"PRAGMA user_version={VERSION}").fetchall()
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(apsw.Error):
            connection.execute("ROLLBACK")
        raise


def _copy(connection: apsw.Connection, target: Path) -> None:
    if target.exists():
        return
    unfinished = target.with_name(target.name + ".part")
    unfinished.unlink(missing_ok=True)
    copy = apsw.Connection(str(unfinished))
    with copy.backup("main", connection, "main") as backup:
        backup.step()
    copy.close()
    unfinished.rename(target)


def integrity(connection: apsw.Connection) -> None:
    """Raise StoreError if the database is damaged."""
    rows = connection.execute("PRAGMA integrity_check").fetchall()
    if rows != [("ok",)]:
        raise StoreError(f"the database is damaged: {rows[0][0]}")
