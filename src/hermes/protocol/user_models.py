"""The seam of user models: peers take part in sessions, messages are added, and questions about a peer are answered."""

from collections.abc import Sequence
from typing import Literal, Protocol

from msgspec import Struct

from hermes.protocol.items import Trust

Peer = Literal["person", "agent"]
Level = Literal["minimal", "low", "medium", "high", "max"]


class Spoken(Struct, frozen=True):
    """One message of a session."""

    peer: Peer
    text: str


class UserModel(Protocol):
    """Knows the person that Hermes works for. A call that fails raises UserError, in one line."""

    @property
    def name(self) -> str: ...

    @property
    def prefix(self) -> str:
        """What the names of its tools begin with."""
        ...

    @property
    def trust(self) -> Trust:
        """How far its answers can be trusted."""
        ...

    async def add(self, session: str, messages: Sequence[Spoken]) -> None:
        """Let it hear what was said."""
        ...

    async def profile(self) -> list[str]:
        """What it knows for sure about the person, one fact a line."""
        ...

    async def search(self, query: str, limit: int) -> list[str]:
        """What was said that has to do with this, the best first."""
        ...

    async def context(self, session: str, query: str) -> str:
        """What is worth knowing before a session goes on."""
        ...

    async def chat(self, query: str, session: str = "", level: Level = "low") -> str:
        """Answer a question about the person."""
        ...

    async def conclude(self, text: str, session: str = "") -> None:
        """Take something as a fact about the person."""
        ...

    async def close(self) -> None: ...
