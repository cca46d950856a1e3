"""What was used, by day: model calls by session, model and purpose; tool calls by tool."""

import time
from collections.abc import Iterable
from typing import Any

import apsw

from hermes.protocol.events import Event, ItemDone, Usage
from hermes.protocol.items import ToolCall
from hermes.protocol.store import ToolUse, UsageRow
from hermes.store.rows import fetch

USED = ("calls", "input", "output", "cache_read", "cache_write", "reasoning", "cost", "unpriced")
CALLED = ("calls", "failed", "seconds")

# Rows of a deleted session stay, as those of session 0: what was spent is spent.
TABLES = """
    CREATE TABLE usage(
        session INTEGER NOT NULL, source TEXT NOT NULL, day TEXT NOT NULL, model TEXT NOT NULL, purpose TEXT NOT NULL,
        calls INTEGER NOT NULL, input INTEGER NOT NULL, output INTEGER NOT NULL, cache_read INTEGER NOT NULL,
        cache_write INTEGER NOT NULL, reasoning INTEGER NOT NULL, cost REAL NOT NULL, unpriced INTEGER NOT NULL,
        PRIMARY KEY(session, source, day, model, purpose)) WITHOUT ROWID;
    CREATE TABLE tool_use(
        session INTEGER NOT NULL, source TEXT NOT NULL, day TEXT NOT NULL, tool TEXT NOT NULL,
        calls INTEGER NOT NULL, failed INTEGER NOT NULL, seconds REAL NOT NULL,
        PRIMARY KEY(session, source, day, tool)) WITHOUT ROWID;
    INSERT INTO usage
        SELECT n, source, date(at, 'unixepoch', 'localtime') AS day, body ->> 'model' AS used, '', count(*),
            total(body ->> 'input'), total(body ->> 'output'), total(body ->> 'cache_read'),
            total(body ->> 'cache_write'), total(body ->> 'reasoning'), total(body ->> 'cost'),
            sum(body ->> 'cost' IS NULL)
        FROM events JOIN sessions ON n = key >> 32 WHERE body ->> 'event' = 'usage' GROUP BY n, day, used;
    INSERT INTO tool_use
        SELECT n, source, date(at, 'unixepoch', 'localtime') AS day, body ->> '$.item.name' AS tool, count(*),
            sum(body ->> '$.item.status' IN ('failed', 'refused', 'unknown')), total(body ->> '$.item.seconds')
        FROM events JOIN sessions ON n = key >> 32
        WHERE body ->> 'event' = 'item_done' AND body ->> '$.item.type' = 'call' GROUP BY n, day, tool;
    """


def add(db: apsw.Connection, session: int, events: Iterable[Event]) -> None:
    """Count what these events of a session used."""
    for event in events:
        match event.body:
            case Usage() as used:
                counts = (1, used.input, used.output, used.cache_read, used.cache_write, used.reasoning)
                values = (*counts, used.cost or 0.0, used.cost is None)
                _add(db, "usage", ("model", "purpose"), USED, session, event.at, (used.model, used.purpose, *values))
            case ItemDone(item=ToolCall(name=name, status=status, seconds=seconds)) if status != "discarded":
                failed = status in ("failed", "refused", "unknown")
                _add(db, "tool_use", ("tool",), CALLED, session, event.at, (name, 1, failed, seconds))
            case _:
                pass


def forget(db: apsw.Connection, session: int) -> None:
    """Keep what a session used when the session itself goes."""
    for table, keys, sums in (("usage", ("model", "purpose"), USED), ("tool_use", ("tool",), CALLED)):
        columns = ", ".join(("source", "day", *keys, *sums))
        db.execute(
            f"INSERT INTO {table}(session, {columns}) SELECT 0, {columns} FROM {table} WHERE session = ? {_more(table, sums)}",
            (session,),
        )
        db.execute(f"DELETE FROM {table} WHERE session = ?", (session,))


def read_usage(db: apsw.Connection, since: float) -> list[UsageRow]:
    query = (
        "SELECT day, coalesce(id, ''), usage.source, usage.model, purpose, "
        + ", ".join(f"usage.{name}" for name in USED)
        + " FROM usage LEFT JOIN sessions ON n = usage.session WHERE day >= ? ORDER BY day, usage.session"
    )
    return [
        UsageRow(**dict(zip(UsageRow.__struct_fields__, row, strict=True))) for row in fetch(db, query, (_day(since),))
    ]


def read_tool_use(db: apsw.Connection, since: float) -> list[ToolUse]:
    query = (
        "SELECT day, source, tool, sum(calls), sum(failed), sum(seconds) FROM tool_use "
        "WHERE day >= ? GROUP BY day, source, tool ORDER BY day, tool"
    )
    return [
        ToolUse(**dict(zip(ToolUse.__struct_fields__, row, strict=True))) for row in fetch(db, query, (_day(since),))
    ]


def _add(
    db: apsw.Connection,
    table: str,
    keys: tuple[str, ...],
    sums: tuple[str, ...],
    session: int,
    at: float,
    values: tuple[Any, ...],
) -> None:
    columns = ", ".join((*keys, *sums))
    marks = ", ".join("?" * len(values))
    db.execute(
        f"INSERT INTO {table}(session, source, day, {columns}) "
        f"SELECT n, source, ?, {marks} FROM sessions WHERE n = ? {_more(table, sums)}",
        (_day(at), *values, session),
    )


def _more(table: str, sums: tuple[str, ...]) -> str:
    return "ON CONFLICT DO UPDATE SET " + ", ".join(f"{name} = {table}.{name} + excluded.{name}" for name in sums)


def _day(at: float) -> str:
    return time.strftime("%Y-%m-%d", time.localtime(at))
