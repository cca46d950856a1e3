"""The seam to the index of what was said: passages go in as terms, and come out by the terms that they share with a question."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from hermes.protocol.items import Item
from hermes.protocol.store import SessionRow

PassageKind = Literal["window", "chapter"]


class Said(Struct, frozen=True):
    """A finished item of a session's log, with its place and its time."""

    seq: int
    at: float
    item: Item


class Passage(Struct, frozen=True):
    """Neighbouring messages that are found together: the seqs of the first and the last event, and the terms between spaces.

    A term that stands there twice is in several of its messages.
    """

    first: int
    last: int
    at: float
    terms: str


class Unread(Struct, frozen=True, kw_only=True):
    """What of a session is not in the index yet.

    The last window and the last chapter that are in the index grow: they begin at the seqs `window` and `chapter`, and `said`
    begins at the earlier of the two; it is empty if nothing was said since. `seq` is how far it reaches, `was` how far the index did, `untrusted` the
    seq of the first untrusted item, 0 if there is none.
    """

    session: str
    title: str
    was: int
    seq: int
    window: int
    chapter: int
    untrusted: int
    said: tuple[Said, ...]


class Indexed(Struct, frozen=True, kw_only=True):
    """The answer to an Unread: its last window and chapter are replaced by these, unless somebody else was faster."""

    session: str
    title: str
    was: int
    seq: int
    untrusted: int
    windows: tuple[Passage, ...]
    chapters: tuple[Passage, ...]


class Terms(Struct, frozen=True, kw_only=True):
    """What a passage should have: one of `any`, the more and the rarer the better, and all of `every`."""

    any: tuple[str, ...]
    every: tuple[str, ...] = ()
    since: float = 0.0
    until: float = 0.0


class Found(Struct, frozen=True, kw_only=True):
    """A passage that fits; `root` is the session that its own descends from, itself if from none."""

    session: str
    root: str
    source: str
    first: int
    last: int
    at: float
    score: float


class Ranked(Struct, frozen=True):
    """The passages that fit, the best first, and what each term was worth."""

    found: tuple[Found, ...]
    weights: dict[str, float]


class Around(Struct, frozen=True):
    """A place in a session: the item there, whatever it is, between as many messages as were asked for. `untrusted` is the seq
    from which on the session has seen untrusted content, 0 if it has seen none."""

    row: SessionRow
    said: tuple[Said, ...]
    untrusted: int


class TextIndex(Protocol):
    """A full-text index over the log. It is derived: `clear` and reading everything again makes the same one."""

    async def unread(self, but: str = "") -> list[Unread]:
        """Some of what is not in the index yet, newest sessions first, without the one named `but`: as much as may be put
        into it at once without keeping others from writing."""
        ...

    async def put(self, pieces: Sequence[Indexed]) -> None: ...

    async def behind(self, but: str = "") -> dict[str, int]:
        """The sessions that have something which is not in the index, each with the seq of its newest event."""
        ...

    async def rank(self, kind: PassageKind, terms: Terms, limit: int) -> Ranked: ...

    async def said(self, places: Sequence[tuple[str, int, int]]) -> list[list[Said]]:
        """The messages and calls of each place: a session, and the seqs that they stand between, both included."""
        ...

    async def around(self, places: Sequence[tuple[str, int]], beside: int) -> list[Around]:
        """What stands around each place, a session and a seq in it; of those that are still there."""
        ...

    async def clear(self) -> None: ...
