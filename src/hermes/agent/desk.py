"""What a session hands to its turn: everything the loop may use, and nothing else."""

from collections.abc import Awaitable, Callable
from typing import Protocol

from msgspec import Struct

from hermes.agent.budget import Meter
from hermes.agent.history import History
from hermes.agent.toolbox import Toolbox
from hermes.protocol.actions import Action, Origin
from hermes.protocol.events import Answered, Request, Usage
from hermes.protocol.items import UserMessage
from hermes.protocol.models import Model
from hermes.protocol.store import JournalRow
from hermes.protocol.terminals import Files, Terminal

Ask = Callable[[Request, float], Awaitable[Answered | None]]


class Masking(Protocol):
    """Takes secrets out of one stream of text, also one that comes in two pieces: it gives back what is certain by now."""

    def feed(self, piece: str) -> str: ...

    def close(self) -> str:
        """What is still held back."""
        ...


class AsItIs:
    """Implements Masking where nothing is masked."""

    def feed(self, piece: str) -> str:
        return piece

    def close(self) -> str:
        return ""


class Scope(Struct, frozen=True):
    """For whom a tool call reaches out: its origin, how to ask a person about it or tell them something, and who is told what a
    model used that was asked about it."""

    origin: Origin
    ask: Ask
    tell: Callable[[str], None]
    used: Callable[[Usage], None] = lambda usage: None


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
    masking: Callable[[], Masking]

    @property
    def model(self) -> Model: ...

    @property
    def system(self) -> str: ...

    @property
    def tools(self) -> Toolbox: ...

    def joined(self) -> list[UserMessage]:
        """Messages that a person sent to join the running turn, placed behind what is there."""
        ...

    async def make_room(self, *, refused: bool = False) -> bool:
        """Shorten the view if the next request would hardly fit, or was refused as too long; True if it is shorter now."""
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
