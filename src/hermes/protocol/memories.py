"""What Hermes remembers: entries with where they came from, every change of them, and which sessions were reviewed."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from hermes.protocol.targets import Target

State = Literal["active", "pending", "archived", "retired"]
Verb = Literal["add", "sight", "approve", "archive", "restore", "retire", "reject"]


class Memory(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One entry. `origin` is who wrote it: the agent's tool, a review, the person's words or commands, or an edit of the file.

    active    in the file, and in the prompt of new sessions
    pending   waits for a second sighting or a person; one that is `held` waits for a person only
    archived  made room for others; can be restored
    retired   removed, rejected, or superseded by another

    A pending entry without content asks to retire the one that it supersedes.
    """

    id: int
    target: Target
    content: str
    state: State = "active"
    origin: Literal["agent", "review", "person", "file"] = "agent"
    session: str = ""
    item: str = ""
    created: float = 0.0
    updated: float = 0.0
    sightings: int = 1
    helped: int = 0
    hurt: int = 0
    supersedes: int = 0
    held: bool = False


class Edit(Struct, frozen=True):
    """What becomes of one entry; an id below zero is that of a new one until it is kept."""

    verb: Verb
    after: Memory


class Writing(Struct, frozen=True, kw_only=True):
    """Edits that belong together: who made them, when, on account of what, and which earlier writing they undo."""

    at: float
    by: str
    edits: tuple[Edit, ...]
    session: str = ""
    item: str = ""
    undoes: int = 0


class Rendered(Struct, frozen=True):
    """The text of a file as it was before the last writing, and as it should be since."""

    target: Target
    before: str
    text: str


class Change(Struct, frozen=True, kw_only=True):
    """One edit of the past, with the writing that it was part of."""

    writing: int
    at: float
    by: str
    verb: Verb
    session: str
    item: str
    undoes: int
    before: Memory | None
    after: Memory


class Reviewed(Struct, frozen=True, kw_only=True):
    """How far a session was read for what is worth remembering; `calls` counts the model calls that took, `kept` what they gave."""

    session: str
    seq: int
    calls: int = 0
    kept: int = 0
    at: float = 0.0


class Memories(Protocol):
    """Entries, their history, and the queue of reviews."""

    async def entries(self, *states: State) -> list[Memory]:
        """Those in these states, or all, the oldest first."""
        ...

    async def rendered(self) -> list[Rendered]: ...

    async def commit(
        self, writings: Sequence[Writing], files: Sequence[Rendered] = (), reviewed: Reviewed | None = None
    ) -> list[Memory]:
        """Keep all of it, or nothing; the entries as they are now, one for each edit."""
        ...

    async def count(self, helped: Sequence[int], hurt: Sequence[int]) -> None:
        """Note which entries were of use in a turn, and which misled."""
        ...

    async def changes(self, memory: int = 0, limit: int = 50) -> list[Change]:
        """The newest first; those of one entry if it is named."""
        ...

    async def writing(self, number: int) -> list[Change]:
        """All of one writing, in order."""
        ...

    async def undoable(self, memory: int = 0) -> int:
        """The newest writing that nobody has undone and that undoes none itself; 0 if there is none."""
        ...

    async def reviewed(self, session: str) -> Reviewed:
        """How far a session was reviewed."""
        ...

    async def recent_reviews(self, limit: int) -> list[Reviewed]:
        """The last that asked a model, the newest first."""
        ...

    async def claim_review(self, session: str, owner: str) -> bool:
        """Become the one who reviews a session; False if a living process is."""
        ...

    async def release_review(self, session: str, owner: str) -> None: ...

    async def unreviewed(self, since: float, without: Sequence[str]) -> list[str]:
        """Sessions with events that nobody has reviewed, which no living process has open: active since then,
        and from other sources than these, the oldest first."""
        ...
