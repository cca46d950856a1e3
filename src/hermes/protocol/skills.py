"""What is known about skills beside their text: their life, every version that Hermes wrote, their trials and their use."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

State = Literal["draft", "trial", "active", "stale", "archived"]
VISIBLE: tuple[State, ...] = ("trial", "active", "stale")
Finding = Literal["better", "same", "worse", "inconclusive"]


class Version(Struct, frozen=True, kw_only=True):
    """One whole state of a skill's folder: files by their paths, their hash, who made it, why and out of which turn."""

    skill: str
    number: int
    hash: str
    files: dict[str, bytes]
    at: float
    by: str
    why: str = ""
    session: str = ""
    turn: int = 0


class SkillRow(Struct, frozen=True, kw_only=True):
    """A skill that Hermes wrote.

    `version` is the one that people and models see, 0 as long as there is none; `hash` is what its folder must hold. `candidate`
    is a version that waits for its trial, or for a person if `waiting` says why. `placed` is False while the folder has yet to
    become what this row says.
    """

    name: str
    category: str
    state: State
    version: int
    hash: str
    candidate: int
    waiting: str
    placed: bool
    created: float
    changed: float
    saved: int = 0


class Trial(Struct, frozen=True, kw_only=True):
    """A past task done again from its recording, with a version of a skill and without."""

    skill: str
    version: int
    session: str
    turn: int
    finding: Finding
    why: str
    at: float
    steps: tuple[int, int] = (0, 0)
    tokens: tuple[int, int] = (0, 0)


class SkillUse(Struct, frozen=True, kw_only=True):
    """How often a version of a skill was offered, loaded, of help and of none; version 0 is one that Hermes did not write."""

    skill: str
    version: int = 0
    offered: int = 0
    loaded: int = 0
    helped: int = 0
    failed: int = 0
    saved: int = 0
    at: float = 0.0


class Decision(Struct, frozen=True, kw_only=True):
    """What becomes of a skill, with the trials that led to it; committed together."""

    skill: str
    expected: int
    """The candidate that the decision is about; if there is another by now, nothing happens."""
    state: State
    version: int
    hash: str
    candidate: int = 0
    waiting: str = ""
    saved: int = 0
    trials: tuple[Trial, ...] = ()


class Known(Struct, frozen=True):
    """All that a shelf needs, read at once: rows, use, pinned names, and hashes that a person vouched for."""

    rows: tuple[SkillRow, ...]
    uses: tuple[SkillUse, ...]
    pins: frozenset[str]
    approved: frozenset[str]


class Skills(Protocol):
    """The skills that Hermes wrote, and what all skills were used for."""

    async def known(self) -> Known: ...

    async def rows(self) -> list[SkillRow]: ...

    async def propose(self, version: Version, category: str) -> Version:
        """Add a version as the candidate of its skill, a new one if need be; the number is given here."""
        ...

    async def version(self, skill: str, number: int) -> Version | None: ...

    async def versions(self, skill: str) -> list[Version]:
        """All of them, the oldest first, without their files."""
        ...

    async def decide(self, decision: Decision, at: float) -> bool:
        """Commit a decision; False if it is about a candidate that is no longer one."""
        ...

    async def placed(self, skill: str, digest: str) -> None:
        """The folder is what the row says."""
        ...

    async def trials(self, skill: str) -> list[Trial]: ...

    async def approve(self, digest: str, skill: str, at: float) -> None:
        """A person vouches for files of this hash."""
        ...

    async def approved(self) -> frozenset[str]: ...

    async def count(self, uses: Sequence[SkillUse]) -> None:
        """Add to what was counted."""
        ...

    async def uses(self) -> list[SkillUse]: ...

    async def pin(self, skill: str, pinned: bool) -> None: ...

    async def pins(self) -> frozenset[str]: ...

    async def claim(self, work: str, owner: str) -> bool:
        """Be the one who does something, unless a process that lives is at it."""
        ...

    async def release(self, work: str, owner: str) -> None: ...

    async def noted(self, key: str) -> float:
        """A moment that was noted down, 0 if it was not."""
        ...

    async def note(self, key: str, at: float) -> None: ...
