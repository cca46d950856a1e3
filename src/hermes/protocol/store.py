"""The seams to what is kept. Every call that returns has its rows on disk."""

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct

from hermes.protocol.events import Event, Usage
from hermes.protocol.ops import AnyOp, Receipt
from hermes.protocol.terminals import ProcessInfo


class Totals(Struct, frozen=True, kw_only=True):
    """What a session has used so far."""

    turns: int = 0
    steps: int = 0
    calls: int = 0
    messages: int = 0
    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0
    cost: float = 0.0
    unpriced: int = 0


class SessionRow(Struct, frozen=True, kw_only=True):
    """A session as lists show it; `seq` is its newest event."""

    id: str
    source: str
    model: str
    cwd: str
    title: str = ""
    parent: str = ""
    forked_from: str = ""
    started: float = 0.0
    active: float = 0.0
    ended: float | None = None
    end_reason: str = ""
    seq: int = 0
    owner: str = ""
    totals: Totals = Totals()


class UsageRow(Struct, frozen=True, kw_only=True):
    """What model calls of one session used on one day, by model and purpose; `session` is empty once it was deleted."""

    day: str
    session: str
    source: str
    model: str
    purpose: str
    calls: int
    input: int
    output: int
    cache_read: int
    cache_write: int
    reasoning: int
    cost: float
    unpriced: int


class ToolUse(Struct, frozen=True, kw_only=True):
    """How often a tool was called on one day, how often that failed, and how long it took in all."""

    day: str
    source: str
    tool: str
    calls: int
    failed: int
    seconds: float


class JournalRow(Struct, frozen=True, kw_only=True):
    """Something with an outside effect that has begun: a model call or a tool call, named by its item."""

    ref: str
    kind: str
    detail: str
    at: float


class Blob(Struct, frozen=True):
    """Bytes on their way into the store."""

    hash: str
    media_type: str
    data: bytes


class Batch(Struct, frozen=True, kw_only=True):
    """What is committed together, or not at all."""

    events: tuple[Event, ...] = ()
    applied: tuple[str, ...] = ()
    begin: tuple[JournalRow, ...] = ()
    end: tuple[str, ...] = ()
    blobs: tuple[Blob, ...] = ()


class Log(Protocol):
    """Sessions and their events."""

    async def create(self, row: SessionRow, batch: Batch, owner: str) -> None: ...

    async def append(self, session: str, owner: str, batch: Batch) -> None:
        """Commit a batch; raises LeaseLost if another process has taken the session over."""
        ...

    async def events(self, session: str, after: int = 0, limit: int = 1000) -> list[Event]: ...

    async def session(self, name: str) -> SessionRow | None:
        """By id, unique beginning of an id, or title."""
        ...

    async def sessions(self, *, source: str = "", limit: int = 50) -> list[SessionRow]: ...

    async def rename(self, session: str, title: str) -> None: ...

    async def delete(self, sessions: Sequence[str]) -> int: ...

    async def fork(self, session: str, row: SessionRow, opened: Event) -> None:
        """Make a new session, which nobody owns yet, that begins with `opened` and goes on with a copy of another's events."""
        ...


class OpQueue(Protocol):
    """Ops on their way into a session, from this process or another."""

    async def put(self, session: str, op: AnyOp) -> tuple[Receipt, bool]:
        """Commit an op; False with the first receipt if an op of that id was there already."""
        ...

    async def pending(self, session: str) -> list[AnyOp]:
        """Ops that have had no effect yet, in the order of their rows; those of a newer Hermes are left for it."""
        ...


class Journal(Protocol):
    """What had begun and was not known to be over; read only when a session is taken over."""

    async def unfinished(self, session: str) -> list[JournalRow]: ...


class Blobs(Protocol):
    """Bytes by their SHA-256."""

    async def keep(self, session: str, data: bytes, media_type: str) -> str:
        """Keep bytes for as long as the session is kept; returns their hash."""
        ...

    async def get(self, ref: str, session: str) -> bytes:
        """By hash or unique beginning of one, among those that the session keeps."""
        ...


class Leases(Protocol):
    """Which process owns a session."""

    async def claim(self, session: str, owner: str) -> bool:
        """Become the owner if there is none, or the last one is dead."""
        ...

    async def beat(self, session: str, owner: str) -> bool: ...

    async def release(self, session: str, owner: str) -> None: ...


class Processes(Protocol):
    """Background processes that a crash may have left behind."""

    async def save(self, session: str, info: ProcessInfo) -> None: ...

    async def of(self, session: str) -> list[ProcessInfo]: ...


class Usages(Protocol):
    """What was used, day by day in local time, since a moment."""

    async def spend(self, session: str, used: Usage, at: float) -> None:
        """Count a model call that was made for a session which is not open."""
        ...

    async def usage(self, since: float = 0.0) -> list[UsageRow]: ...

    async def tool_use(self, since: float = 0.0) -> list[ToolUse]: ...


class Store(Log, OpQueue, Journal, Blobs, Leases, Processes, Usages, Protocol):
    """All of it, on one database."""

    async def changed(self, since: int) -> int:
        """The state of the database once it is another than `since`, because another process has written something."""
        ...
