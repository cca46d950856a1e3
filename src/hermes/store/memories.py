"""Memory in the store: entries, every change of them, what the files should hold, and how far sessions were reviewed."""

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import apsw
import msgspec

from hermes.protocol.errors import StoreError
from hermes.protocol.memories import Change, Edit, Memory, Rendered, Reviewed, State, Writing
from hermes.store import owner as owners
from hermes.store.rows import fetch

if TYPE_CHECKING:
    from hermes.store.lane import Lane

COLUMNS = Memory.__struct_fields__
NAMES = ", ".join(COLUMNS)
# What use an entry was is counted on its own and never written back.
WRITTEN = tuple(name for name in COLUMNS if name not in ("id", "helped", "hurt"))
LEASE = 600.0
"""Seconds after which a review on another machine counts as given up; a review takes one model call."""


class SqliteMemories:
    """Implements the seam Memories on the lanes of a store."""

    def __init__(self, writer: "Lane", reader: "Lane") -> None:
        self._writer = writer
        self._reader = reader

    async def entries(self, *states: State) -> list[Memory]:
        where = f"WHERE state IN ({', '.join('?' * len(states))})" if states else ""
        query = f"SELECT {NAMES} FROM memories {where} ORDER BY id"
        return [_memory(row) for row in await self._reader.read(lambda db: fetch(db, query, states))]

    async def rendered(self) -> list[Rendered]:
        query = "SELECT target, before, text FROM memory_files"
        return [Rendered(*row) for row in await self._reader.read(lambda db: fetch(db, query))]

    async def commit(
        self, writings: Sequence[Writing], files: Sequence[Rendered] = (), reviewed: Reviewed | None = None
    ) -> list[Memory]:
        def write(db: apsw.Connection) -> list[Memory]:
            named: dict[int, int] = {}
            kept = [memory for writing in writings for memory in _write(db, writing, named)]
            for file in files:
                db.execute("INSERT OR REPLACE INTO memory_files VALUES (?, ?, ?)", msgspec.structs.astuple(file))
            if reviewed is not None:
                _mark(db, reviewed)
            return kept

        return await self._writer.write(write)

    async def count(self, helped: Sequence[int], hurt: Sequence[int]) -> None:
        def write(db: apsw.Connection) -> None:
            for column, ids in (("helped", helped), ("hurt", hurt)):
                db.executemany(f"UPDATE memories SET {column} = {column} + 1 WHERE id = ?", [(one,) for one in ids])

        await self._writer.write(write)

    async def changes(self, memory: int = 0, limit: int = 50) -> list[Change]:
        query = f"{_CHANGES} WHERE ? IN (0, memory) ORDER BY memory_changes.n DESC LIMIT ?"
        return [_change(row) for row in await self._reader.read(lambda db: fetch(db, query, (memory, limit)))]

    async def writing(self, number: int) -> list[Change]:
        query = f"{_CHANGES} WHERE writing = ? ORDER BY memory_changes.n"
        return [_change(row) for row in await self._reader.read(lambda db: fetch(db, query, (number,)))]

    async def undoable(self, memory: int = 0) -> int:
        query = (
            "SELECT max(w.n) FROM memory_writings w JOIN memory_changes c ON c.writing = w.n WHERE w.undoes = 0 "
            "AND ? IN (0, c.memory) AND w.n NOT IN (SELECT undoes FROM memory_writings)"
        )
        [(number,)] = await self._reader.read(lambda db: fetch(db, query, (memory,)))
        return number or 0

    # Reviews

    async def reviewed(self, session: str) -> Reviewed:
        query = "SELECT reviews.seq, reviews.calls, kept, at FROM reviews JOIN sessions ON n = session WHERE id = ?"
        found = await self._reader.read(lambda db: fetch(db, query, (session,)))
        seq, calls, kept, at = found[0] if found else (0, 0, 0, 0.0)
        return Reviewed(session=session, seq=seq, calls=calls, kept=kept, at=at)

    async def recent_reviews(self, limit: int) -> list[Reviewed]:
        query = (
            "SELECT id, reviews.seq, reviews.calls, kept, at FROM reviews JOIN sessions ON n = session "
            "WHERE at > 0 ORDER BY at DESC LIMIT ?"
        )
        found = await self._reader.read(lambda db: fetch(db, query, (limit,)))
        return [Reviewed(session=id, seq=seq, calls=calls, kept=kept, at=at) for id, seq, calls, kept, at in found]

    async def claim_review(self, session: str, owner: str) -> bool:
        def write(db: apsw.Connection) -> bool:
            n, now = _number(db, session), time.time()
            for held, beat in fetch(db, "SELECT owner, beat FROM reviews WHERE session = ?", (n,)):
                if held not in ("", owner) and now - beat < LEASE and owners.lives(held, now, now):
                    return False
            db.execute(
                "INSERT INTO reviews(session, seq, owner, beat) VALUES (?1, 0, ?2, ?3) "
                "ON CONFLICT DO UPDATE SET owner = ?2, beat = ?3",
                (n, owner, now),
            )
            return True

        return await self._writer.write(write)

    async def release_review(self, session: str, owner: str) -> None:
        query = "UPDATE reviews SET owner = '' WHERE owner = ? AND session = (SELECT n FROM sessions WHERE id = ?)"
        await self._writer.write(lambda db: fetch(db, query, (owner, session)))

    async def unreviewed(self, since: float, without: Sequence[str]) -> list[str]:
        query = (
            "SELECT id, sessions.owner, sessions.beat FROM sessions LEFT JOIN reviews ON session = n "
            "WHERE active >= ? AND parent = '' AND sessions.seq > coalesce(reviews.seq, 0) AND turns > 0 "
            f"AND source NOT IN ({', '.join('?' * len(without))}) ORDER BY active"
        )
        found = await self._reader.read(lambda db: fetch(db, query, (since, *without)))
        now = time.time()
        return [name for name, owner, beat in found if not owner or not owners.lives(owner, beat, now)]


_CHANGES = (
    "SELECT writing, at, writer, verb, session, item, undoes, before, after "
    "FROM memory_changes JOIN memory_writings ON memory_writings.n = writing"
)


def _write(db: apsw.Connection, writing: Writing, named: dict[int, int]) -> list[Memory]:
    db.execute(
        "INSERT INTO memory_writings(at, writer, session, item, undoes) VALUES (?, ?, ?, ?, ?)",
        (writing.at, writing.by, writing.session, writing.item, writing.undoes),
    )
    number = db.last_insert_rowid()
    return [_edit(db, number, edit, named) for edit in writing.edits]


def _edit(db: apsw.Connection, writing: int, edit: Edit, named: dict[int, int]) -> Memory:
    """Write one edit and its history; `named` has the ids that new entries were given."""
    after = edit.after
    after = msgspec.structs.replace(after, id=named.get(after.id, after.id))
    after = msgspec.structs.replace(after, supersedes=named.get(after.supersedes, after.supersedes))
    before = fetch(db, f"SELECT {NAMES} FROM memories WHERE id = ?", (after.id,))
    values: tuple[Any, ...] = tuple(getattr(after, name) for name in WRITTEN)
    if before:
        old = _memory(before[0])
        after = msgspec.structs.replace(after, helped=old.helped, hurt=old.hurt)
        sets = ", ".join(f"{name} = ?" for name in WRITTEN)
        db.execute(f"UPDATE memories SET {sets} WHERE id = ?", (*values, after.id))
    else:
        marks = ", ".join("?" * len(WRITTEN))
        db.execute(f"INSERT INTO memories({', '.join(WRITTEN)}, helped, hurt) VALUES ({marks}, 0, 0)", values)
        named[edit.after.id] = db.last_insert_rowid()
        after = msgspec.structs.replace(after, id=db.last_insert_rowid())
    db.execute(
        "INSERT INTO memory_changes(writing, memory, verb, before, after) VALUES (?, ?, ?, ?, ?)",
        (writing, after.id, edit.verb, _json(_memory(before[0])) if before else None, _json(after)),
    )
    return after


def _mark(db: apsw.Connection, reviewed: Reviewed) -> None:
    """Note that a session is read up to an event, and let go of it."""
    n = _number(db, reviewed.session)
    db.execute("INSERT OR IGNORE INTO reviews(session, seq) VALUES (?, 0)", (n,))
    db.execute("UPDATE reviews SET seq = max(seq, ?), owner = '' WHERE session = ?", (reviewed.seq, n))
    if reviewed.calls:
        db.execute(
            "UPDATE reviews SET calls = calls + ?, kept = ?, at = ? WHERE session = ?",
            (reviewed.calls, reviewed.kept, reviewed.at, n),
        )


def _number(db: apsw.Connection, session: str) -> int:
    found = fetch(db, "SELECT n FROM sessions WHERE id = ?", (session,))
    if not found:
        raise StoreError(f"session {session} is not in the store")
    return found[0][0]


def _memory(row: tuple[Any, ...]) -> Memory:
    fields = dict(zip(COLUMNS, row, strict=True))
    return Memory(**{**fields, "held": bool(fields["held"])})


def _change(row: tuple[Any, ...]) -> Change:
    writing, at, by, verb, session, item, undoes, before, after = row
    return Change(
        writing=writing,
        at=at,
        by=by,
        verb=verb,
        session=session,
        item=item,
        undoes=undoes,
        before=msgspec.json.decode(before, type=Memory) if before else None,
        after=msgspec.json.decode(after, type=Memory),
    )


def _json(memory: Memory) -> str:
    return msgspec.json.encode(memory).decode()
