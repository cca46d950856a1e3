"""The store on SQLite: one database for every session and every process of a home."""

import hashlib
import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import apsw
import msgspec

from hermes.protocol.errors import LeaseLost, StoreError, UserError
from hermes.protocol.events import Event, Usage
from hermes.protocol.ops import AnyOp, Receipt
from hermes.protocol.store import Batch, Blob, JournalRow, SessionRow, ToolUse, UsageRow
from hermes.protocol.terminals import ProcessInfo
from hermes.protocol.wire import decode_op, encode_op
from hermes.store import memory_tables, rows, skills, text_tables, usage
from hermes.store import owner as owners
from hermes.store.changes import Changes
from hermes.store.lane import Lane
from hermes.store.rows import fetch

if TYPE_CHECKING:
    from hermes.store.memories import SqliteMemories
    from hermes.store.text_index import SqliteTextIndex

log = logging.getLogger(__name__)


class SqliteStore:
    """Implements every seam of protocol.store. Open it once per process; close it at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._writer = Lane(path)
        self._reader = Lane(path)
        self.skills = skills.SqliteSkills(self._writer, self._reader)
        self._changes = Changes(self._writer)

    async def __aenter__(self) -> "SqliteStore":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        self._changes.close()
        await self._reader.close()
        await self._writer.close()

    @property
    def memories(self) -> "SqliteMemories":
        """What is remembered, and which sessions were reviewed for it."""
        from hermes.store.memories import SqliteMemories

        return SqliteMemories(self._writer, self._reader)

    @property
    def index(self) -> "SqliteTextIndex":
        """What was said, by its words."""
        from hermes.store.text_index import SqliteTextIndex

        return SqliteTextIndex(self._writer, self._reader)

    # Sessions and events

    async def create(self, row: SessionRow, batch: Batch, owner: str) -> None:
        written = rows.event_rows(batch.events)
        await self._writer.write(lambda db: _create(db, row, batch, written, owner))

    async def append(self, session: str, owner: str, batch: Batch) -> None:
        written = rows.event_rows(batch.events)
        await self._writer.write(lambda db: _append(db, session, owner, batch, written))

    async def events(self, session: str, after: int = 0, limit: int = 1000) -> list[Event]:
        def read(db: apsw.Connection) -> list[Event]:
            found = fetch(db, "SELECT n, parent FROM sessions WHERE id = ?", (session,))
            return rows.read_events(db, found[0][0], session, found[0][1], after, limit) if found else []

        return await self._reader.read(read)

    async def session(self, name: str) -> SessionRow | None:
        return await self._reader.read(lambda db: _find(db, name))

    async def sessions(self, *, source: str = "", limit: int = 50) -> list[SessionRow]:
        query = f"SELECT {rows.COLUMNS} FROM sessions WHERE ? IN ('', source) ORDER BY active DESC, n DESC LIMIT ?"
        found = await self._reader.read(lambda db: fetch(db, query, (source, limit)))
        return [rows.session_row(row) for row in found]

    async def rename(self, session: str, title: str) -> None:
        def write(db: apsw.Connection) -> None:
            try:
                db.execute("UPDATE sessions SET title = ? WHERE id = ?", (title or None, session))
            except apsw.ConstraintError:
                raise UserError(f"another session has the title {title!r}", "choose another title") from None

        await self._writer.write(write)

    async def delete(self, sessions: Sequence[str]) -> int:
        def write(db: apsw.Connection) -> int:
            count = sum(_delete(db, session) for session in sessions)
            db.execute("DELETE FROM blobs WHERE n NOT IN (SELECT blob FROM blob_uses)")
            return count

        return await self._writer.write(write)

    async def fork(self, session: str, row: SessionRow, opened: Event) -> None:
        written = rows.event_rows((opened,))
        await self._writer.write(lambda db: _fork(db, session, row, opened, written))

    async def spend(self, session: str, used: Usage, at: float) -> None:
        event = Event(session=session, at=at, body=used)
        await self._writer.write(lambda db: usage.add(db, _number(db, session), (event,)))

    async def usage(self, since: float = 0.0) -> list[UsageRow]:
        return await self._reader.read(lambda db: usage.read_usage(db, since))

    async def tool_use(self, since: float = 0.0) -> list[ToolUse]:
        return await self._reader.read(lambda db: usage.read_tool_use(db, since))

    # Ops

    async def put(self, session: str, op: AnyOp) -> tuple[Receipt, bool]:
        body = encode_op(op).decode()

        def write(db: apsw.Connection) -> tuple[Receipt, bool]:
            n = _number(db, session)
            if earlier := fetch(db, "SELECT n FROM ops WHERE id = ?", (op.id,)):
                return Receipt(op.id, earlier[0][0]), False
            db.execute("INSERT INTO ops(id, session, at, body) VALUES (?, ?, ?, ?)", (op.id, n, time.time(), body))
            return Receipt(op.id, db.last_insert_rowid()), True

        return await self._writer.write(write)

    async def pending(self, session: str) -> list[AnyOp]:
        query = (
            "SELECT ops.id, ops.body FROM ops JOIN sessions ON sessions.n = ops.session "
            "WHERE sessions.id = ? AND body IS NOT NULL ORDER BY ops.n"
        )
        ops: list[AnyOp] = []
        for name, body in await self._writer.read(lambda db: fetch(db, query, (session,))):
            try:
                ops.append(decode_op(body.encode()))
            except msgspec.ValidationError as error:
                log.warning("op %s of session %s is left for a newer Hermes: %s", name, session, error)
        return ops

    async def changed(self, since: int) -> int:
        return await self._changes.after(since)

    # Journal, processes

    async def unfinished(self, session: str) -> list[JournalRow]:
        query = (
            "SELECT ref, kind, detail, journal.at FROM journal JOIN sessions ON n = session WHERE id = ? ORDER BY ref"
        )
        found = await self._writer.read(lambda db: fetch(db, query, (session,)))
        return [JournalRow(ref=ref, kind=kind, detail=detail, at=at) for ref, kind, detail, at in found]

    async def save(self, session: str, info: ProcessInfo) -> None:
        body = msgspec.json.encode(info).decode()

        def write(db: apsw.Connection) -> None:
            db.execute("INSERT OR REPLACE INTO processes VALUES (?, ?, ?)", (info.id, _number(db, session), body))

        await self._writer.write(write)

    async def of(self, session: str) -> list[ProcessInfo]:
        query = "SELECT info FROM processes JOIN sessions ON n = session WHERE sessions.id = ? ORDER BY processes.id"
        found = await self._writer.read(lambda db: fetch(db, query, (session,)))
        return [msgspec.json.decode(info, type=ProcessInfo) for (info,) in found]

    # Blobs

    async def keep(self, session: str, data: bytes, media_type: str) -> str:
        blob = make_blob(data, media_type)
        await self._writer.write(lambda db: _keep(db, _number(db, session), blob))
        return blob.hash

    async def get(self, ref: str, session: str) -> bytes:
        query = (
            "SELECT data FROM blobs JOIN blob_uses ON blob = blobs.n JOIN sessions ON sessions.n = session "
            "WHERE hash >= ? AND hash < ? AND sessions.id = ? LIMIT 2"
        )
        found = await self._reader.read(lambda db: fetch(db, query, (ref, ref + "g", session)))
        if len(found) != 1:
            raise StoreError(f"no stored data is named {ref!r}" if not found else f"{ref!r} names more than one")
        return found[0][0]

    # Leases

    async def claim(self, session: str, owner: str) -> bool:
        def write(db: apsw.Connection) -> bool:
            now = time.time()
            for held, beat in fetch(db, "SELECT owner, beat FROM sessions WHERE id = ?", (session,)):
                if held not in ("", owner) and owners.lives(held, beat, now):
                    return False
            db.execute("UPDATE sessions SET owner = ?, beat = ? WHERE id = ?", (owner, now, session))
            return db.changes() == 1

        return await self._writer.write(write)

    async def beat(self, session: str, owner: str) -> bool:
        def write(db: apsw.Connection) -> bool:
            db.execute("UPDATE sessions SET beat = ? WHERE id = ? AND owner = ?", (time.time(), session, owner))
            return db.changes() == 1

        return await self._writer.write(write)

    async def release(self, session: str, owner: str) -> None:
        query = "UPDATE sessions SET owner = '' WHERE id = ? AND owner = ?"
        await self._writer.write(lambda db: fetch(db, query, (session, owner)))


def make_blob(data: bytes, media_type: str) -> Blob:
    return Blob(hashlib.sha256(data).hexdigest(), media_type, data)


def _number(db: apsw.Connection, session: str) -> int:
    found = fetch(db, "SELECT n FROM sessions WHERE id = ?", (session,))
    if not found:
        raise StoreError(f"session {session} is not in the store")
    return found[0][0]


def _create(db: apsw.Connection, row: SessionRow, batch: Batch, written: list[Any], owner: str) -> None:
    db.execute(
        "INSERT INTO sessions(id, source, model, cwd, parent, forked_from, started, active, owner, beat) "
        "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (row.id, row.source, row.model, row.cwd, row.parent, row.forked_from, *[row.started] * 2, owner, row.started),
    )
    _append(db, row.id, owner, batch, written)


def _append(db: apsw.Connection, session: str, owner: str, batch: Batch, written: list[Any]) -> None:
    """Write a batch if this owner holds the session and its seqs follow on; else nothing, and LeaseLost."""
    found = fetch(db, "SELECT n, seq FROM sessions WHERE id = ? AND owner = ?", (session, owner))
    if not found:
        raise LeaseLost(f"session {session} was taken over by another process")
    n, seq = found[0]
    if batch.events:
        if [e.seq for e in batch.events] != list(range(seq + 1, seq + 1 + len(batch.events))):
            raise LeaseLost(f"session {session} has events that this process did not write")
        _update_session(db, n, batch.events)
        usage.add(db, n, batch.events)
        keyed = [(n << rows.SEQ_BITS | number, *rest) for number, *rest in written]
        db.executemany("INSERT INTO events VALUES (?, ?, ?, ?)", keyed)
    for blob in batch.blobs:
        _keep(db, n, blob)
    for row in batch.begin:
        db.execute("INSERT OR REPLACE INTO journal VALUES (?, ?, ?, ?, ?)", (n, row.ref, row.kind, row.detail, row.at))
    for ref in batch.end:
        db.execute("DELETE FROM journal WHERE session = ? AND ref = ?", (n, ref))
    for op in batch.applied:
        db.execute("UPDATE ops SET body = NULL WHERE id = ?", (op,))


def _fork(db: apsw.Connection, session: str, row: SessionRow, opened: Event, written: list[Any]) -> None:
    """Copy a session's events behind the first, and its claims on blobs; what it used stays its own."""
    source = _number(db, session)
    _create(db, row, Batch(events=(opened,)), written, "")
    n = _number(db, row.id)
    db.execute(
        "INSERT INTO events SELECT (?1 << 32) | (key & 0xffffffff), turn, at, body FROM events "
        "WHERE key > (?2 << 32 | 1) AND key < ((?2 + 1) << 32)",
        (n, source),
    )
    db.execute("INSERT OR IGNORE INTO blob_uses SELECT blob, ? FROM blob_uses WHERE session = ?", (n, source))
    db.execute(
        "UPDATE sessions SET (seq, turns, messages, calls) = (SELECT seq, turns, messages, calls FROM sessions WHERE n = ?), "
        "title = ? WHERE n = ?",
        (source, _free_title(db, n, row.title) if row.title else None, n),
    )
    memory_tables.pass_over(db, n)


def _update_session(db: apsw.Connection, n: int, events: tuple[Event, ...]) -> None:
    last = events[-1]
    totals = {k: v for k, v in msgspec.structs.asdict(rows.counted(events)).items() if v}
    columns = {"seq": last.seq, "active": last.at, **rows.settled(events)}
    if columns.get("title") is not None:
        columns["title"] = _free_title(db, n, columns["title"])
    sets = [f"{name} = ?" for name in columns] + [f"{name} = {name} + ?" for name in totals]
    values: list[Any] = [*columns.values(), *totals.values(), n]
    db.execute(f"UPDATE sessions SET {', '.join(sets)} WHERE n = ?", values)


def _free_title(db: apsw.Connection, n: int, title: str) -> str:
    """The title, with a number behind it if another session has it."""
    query = "SELECT title FROM sessions WHERE n != ? AND (title = ? OR (title >= ? AND title < ?))"
    taken = [found for (found,) in fetch(db, query, (n, title, f"{title} (", f"{title} )"))]
    if title.casefold() not in map(str.casefold, taken):
        return title
    numbers = [int(digits) for found in taken if (digits := found[len(title) + 2 : -1]).isdecimal()]
    return f"{title} ({max(numbers, default=1) + 1})"


def _find(db: apsw.Connection, name: str) -> SessionRow | None:
    for where, value in (("id = ?", name), ("title = ?", name), ("id >= ?1 AND id < ?1 || 'z'", name)):
        found = fetch(db, f"SELECT {rows.COLUMNS} FROM sessions WHERE {where} LIMIT 2", (value,))
        if len(found) == 1:
            return rows.session_row(found[0])
    return None


def _keep(db: apsw.Connection, n: int, blob: Blob) -> None:
    db.execute(
        "INSERT OR IGNORE INTO blobs(hash, media_type, data) VALUES (?, ?, ?)", (blob.hash, blob.media_type, blob.data)
    )
    db.execute("INSERT OR IGNORE INTO blob_uses SELECT n, ? FROM blobs WHERE hash = ?", (n, blob.hash))


def _delete(db: apsw.Connection, session: str) -> int:
    """Remove a session that nobody owns, and its claim on blobs."""
    found = fetch(db, "SELECT n, owner, beat FROM sessions WHERE id = ?", (session,))
    if not found:
        return 0
    n, owner, beat = found[0]
    if owner and owners.lives(owner, beat, time.time()):
        raise UserError(f"session {session} is open in another process", "close it there first")
    db.execute("DELETE FROM events WHERE key >= ? AND key < ?", (n << rows.SEQ_BITS, (n + 1) << rows.SEQ_BITS))
    usage.forget(db, n)
    text_tables.forget(db, n)
    for table in ("ops", "journal", "processes", "blob_uses", "reviews"):
        db.execute(f"DELETE FROM {table} WHERE session = ?", (n,))
    db.execute("DELETE FROM sessions WHERE n = ?", (n,))
    return 1
