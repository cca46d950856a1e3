"""What a session hands to its turn: everything the loop may use, and nothing else."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from msgspec import Struct

from hermes.agent.budget import Meter
from hermes.agent.history import History
from hermes.agent.toolbox import Toolbox
from hermes.protocol.actions import Action, Origin
from hermes.protocol.events import Answered, Request
from hermes.protocol.items import UserMessage
from hermes.protocol.models import Model
from hermes.protocol.store import JournalRow
from hermes.protocol.terminals import Files, Terminal

Ask = Callable[[Request, float], Awaitable[Answered | None]]


class Scope(Struct, frozen=True):
    """For whom a tool call reaches out: its origin, and how to ask a person about it or tell them something."""

    origin: Origin
    ask: Ask
    tell: Callable[[str], None]


class Equipment(Struct, frozen=True):
    """The world as one tool call may reach it, each part already behind the gate."""

    files: Files
    terminal: Terminal
    permit: Callable[[Action], Awaitable[object]]


class World(Protocol):
    """Where a session acts. `app` makes it; the session closes it."""

    @property
    def workspace(self) -> str:
        """The folder that the session was opened in."""
        ...

    @property
    def cwd(self) -> str:
        """The folder that its terminal is in."""
        ...

    def equip(self, scope: Scope) -> Equipment: ...

    async def move(self, folder: str) -> None:
        """Make another folder the one that the session works in; UserError if it is not there."""
        ...

    async def recover(self) -> None:
        """End what a crashed owner of the session left running."""
        ...

    async def stop_background(self) -> int:
        """End the background processes; returns how many there were."""
        ...

    async def close(self) -> None: ...


class Desk(Protocol):
    """What the loop works with. The session implements it."""

    session: str
    surface: str
    effort: str
    history: History
    meter: Meter
    world: World
    mask: Callable[[str], str]

    @property
    def model(self) -> Model: ...

    @property
    def system(self) -> str: ...

    @property
    def tools(self) -> Toolbox: ...

    def joined(self) -> list[UserMessage]:
        """Messages that a person sent to join the running turn, placed behind what is there."""
        ...

    async def begin(self, row: JournalRow) -> None:
        """Return once it is on disk, with everything before it, that this has begun."""
        ...

    def end(self, ref: str) -> None:
        """It is over; the row goes with the next commit."""
        ...

    async def ask(self, request: Request, item: str, within: float) -> Answered | None: ...

    def post(self, text: str) -> None: ...

    async def keep(self, data: bytes, media_type: str) -> str: ...

    async def blob(self, ref: str) -> bytes: ...

    def now(self) -> float: ...
