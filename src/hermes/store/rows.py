"""Events into rows and rows into events and sessions."""

from collections.abc import Iterable
from typing import Any

import apsw
import msgspec

from hermes.protocol.events import Changed, Event, ItemDone, SessionClosed, TurnStarted, Usage
from hermes.protocol.items import Reply, ToolCall, UserMessage
from hermes.protocol.store import SessionRow, Totals
from hermes.protocol.wire import decode_body, encode_body

SEQ_BITS = 32
COUNTERS = tuple(Totals.__struct_fields__)
COLUMNS = (
    "id, source, model, cwd, coalesce(title, ''), parent, forked_from, started, active, ended, end_reason, seq, owner, "
    + ", ".join(COUNTERS)
)


def fetch(db: apsw.Connection, sql: str, values: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """All rows of a query; a statement that returns none is run to its end as well."""
    return db.execute(sql, values).fetchall()


def session_row(row: tuple[Any, ...]) -> SessionRow:
    fields = [name for name in SessionRow.__struct_fields__ if name != "totals"]
    totals = Totals(**dict(zip(COUNTERS, row[len(fields) :], strict=True)))
    return SessionRow(**dict(zip(fields, row, strict=False)), totals=totals)


def event_rows(events: Iterable[Event]) -> list[tuple[int, int, float, str]]:
    """The rows of events, with their seq where the key will be: what costs is done before the database is ours."""
    return [(e.seq or 0, e.turn, e.at, encode_body(e.body).decode()) for e in events]


def read_events(db: apsw.Connection, n: int, session: str, parent: str, after: int, limit: int) -> list[Event]:
    first, last = n << SEQ_BITS | after, (n + 1) << SEQ_BITS
    rows = fetch(
        db,
        "SELECT key, turn, at, body FROM events WHERE key > ? AND key < ? ORDER BY key LIMIT ?",
        (first, last, limit),
    )
    mask = (1 << SEQ_BITS) - 1
    return [
        Event(session=session, parent=parent, seq=key & mask, turn=turn, at=at, body=decode_body(body.encode()))
        for key, turn, at, body in rows
    ]


def counted(events: Iterable[Event]) -> Totals:
    """What these events add to their session's totals."""
    sums = dict.fromkeys(COUNTERS, 0)
    cost = 0.0
    for event in events:
        match event.body:
            case TurnStarted():
                sums["turns"] += 1
            case Usage() as used:
                sums["steps"] += 1
                for name in ("input", "output", "cache_read", "cache_write", "reasoning"):
                    sums[name] += getattr(used, name)
                cost += used.cost or 0.0
                sums["unpriced"] += used.cost is None
            case ItemDone(item=ToolCall()):
                sums["calls"] += 1
            case ItemDone(item=UserMessage() | Reply()):
                sums["messages"] += 1
            case _:
                pass
    return Totals(**{**sums, "cost": cost})


def settled(events: Iterable[Event]) -> dict[str, Any]:
    """Columns of the session that these events set."""
    columns: dict[str, Any] = {}
    for event in events:
        match event.body:
            case Changed(cause="title", title=title):
                columns["title"] = title or None
            case Changed(cause="config", config=config) if config is not None:
                columns |= {k: v for k, v in msgspec.structs.asdict(config).items() if k in ("model", "cwd") and v}
            case SessionClosed(reason=reason):
                columns |= {"ended": event.at, "end_reason": reason}
            case TurnStarted():
                columns |= {"ended": None, "end_reason": ""}
            case _:
                pass
    return columns
