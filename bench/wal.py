"""Count the commits that somebody makes to a SQLite database, from its write-ahead log."""

from collections.abc import Callable
from pathlib import Path

import apsw

HEADER, FRAME = 32, 24


def commits_of(act: Callable[[], object], database: Path) -> int:
    """How many commits something makes. While a reader holds its place, the log only grows, and nobody clears it."""
    connection = apsw.Connection(str(database))
    connection.execute("BEGIN")
    connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
    try:
        before = _commits(database)
        act()
        return _commits(database) - before
    finally:
        connection.close()


def _commits(database: Path) -> int:
    """The frames of the log that tell the size of the database after them, which only the last of each commit does."""
    log = database.with_name(f"{database.name}-wal")
    data = log.read_bytes() if log.exists() else b""
    page, salt = int.from_bytes(data[8:12]), data[16:24]
    starts = range(HEADER, len(data), FRAME + page) if page else range(0)
    return sum(data[at + 8 : at + 16] == salt and data[at + 4 : at + 8] != b"\0\0\0\0" for at in starts)
