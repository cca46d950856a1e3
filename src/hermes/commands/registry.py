"""One registry of slash commands for every surface: how a command is declared, found and run."""

import difflib
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

from hermes.protocol.errors import HermesError, UserError
from hermes.protocol.ops import AnyOp

if TYPE_CHECKING:
    from hermes.agent.session import Session
    from hermes.app import App

Surface = Literal["terminal", "chat"]
EVERYWHERE: tuple[Surface, ...] = ("terminal", "chat")
TERMINAL: tuple[Surface, ...] = ("terminal",)
CONFIRMED = ("now", "--yes", "-y")
"""One of these behind a destructive command means that nobody need ask."""

# A path such as /etc/hosts at the start of a message is no command.
_typed = re.compile(r"/([A-Za-z][\w-]*)(?:\s+(.*))?", re.DOTALL)


ScreenAction = Literal[
    "quit",
    "new",
    "resume",
    "clear",
    "sessions",
    "details",
    "skin",
    "verbose",
    "busy",
    "copy",
    "redraw",
    "timestamps",
    "statusbar",
    "footer",
    "indicator",
    "paste",
    "compose",
]


class Screen(Struct, frozen=True):
    """Something that only the surface can do, and with what.

    quit        the id of the session to forget, or nothing
    new         the title of the session, or nothing
    resume      the session's id
    sessions    a list of sessions, for a surface that has no better one
    details     "PART STATE": thoughts, tools, subagents or activity; hidden, folded or open
    skin        its name, or nothing to list them
    verbose     how much of tool calls is shown: off, new, all or verbose; nothing for the next of them
    busy        what typing does while a turn runs: interrupt, queue or steer; nothing to tell
    copy        the text for the clipboard
    timestamps  on or off, as with statusbar and footer; nothing for the other of them
    indicator   skin, dots or ascii; nothing to tell
    compose     what the editor begins with
    """

    action: ScreenAction
    data: str = ""


class Outcome(Struct, frozen=True, kw_only=True):
    """What came of a command: Markdown for the person, ops to send in this order, then something for the screen."""

    reply: str = ""
    ops: tuple[AnyOp, ...] = ()
    screen: Screen | None = None


class Completion(Struct, frozen=True, kw_only=True):
    """A way to go on with what is typed: `text` takes the place of what stands from `start` to the cursor.

    A list shows `label`, or the text itself, and behind it what `help` tells.
    """

    text: str
    start: int = 0
    label: str = ""
    help: str = ""


class Context(Protocol):
    """What a command can reach; every surface has one."""

    @property
    def session(self) -> "Session": ...

    @property
    def app(self) -> "App": ...

    @property
    def surface(self) -> Surface: ...

    @property
    def registry(self) -> "Registry": ...


def asks_nothing(argument: str) -> str:
    return ""


async def offers_nothing(ctx: Context, argument: str) -> list[Completion]:
    return []


class Command(Struct, frozen=True, kw_only=True):
    """A slash command. `destructive` gives the question to ask before it runs with an argument, or nothing;
    `silenced_by` is the setting of `approvals` that does away with it.

    `complete` offers arguments: all that there are, with `start` counted in the argument typed so far. Whoever asks
    leaves out those that do not fit.
    """

    name: str
    help: str
    run: Callable[[Context, str], Awaitable[Outcome]]
    aliases: tuple[str, ...] = ()
    usage: str = ""
    destructive: Callable[[str], str] = asks_nothing
    silenced_by: Literal["destructive_slash_confirm", "mcp_reload_confirm"] = "destructive_slash_confirm"
    surfaces: tuple[Surface, ...] = EVERYWHERE
    complete: Callable[[Context, str], Awaitable[list[Completion]]] = offers_nothing

    @property
    def call(self) -> str:
        """How it is typed: /undo [N]."""
        return f"/{self.name} {self.usage}".rstrip()


class Typed(Struct, frozen=True):
    """A command that a person typed. The surface asks `question` first, if there is one, and runs it on a yes."""

    command: Command
    argument: str
    question: str = ""

    async def run(self, ctx: Context) -> Outcome:
        """Run it; what is wrong comes back as a reply of one line."""
        try:
            return await self.command.run(ctx, self.argument)
        except UserError as error:
            return Outcome(reply=f"{error} ({error.hint})" if error.hint else str(error))
        except HermesError as error:
            return Outcome(reply=str(error))


class Registry:
    """The commands of a process, in the order in which they are listed and matched.

    `asks` tells whether a destructive command has its question; the person may have said that it should not. `more` gives
    those that come and go, behind all others.
    """

    def __init__(
        self,
        commands: Iterable[Command],
        asks: Callable[[Command], bool] = lambda command: True,
        more: Callable[[], Iterable[Command]] = tuple,
    ) -> None:
        self.commands = tuple(commands)
        self._asks = asks
        self._more = more

    def on(self, surface: Surface) -> tuple[Command, ...]:
        """The commands of a surface."""
        return tuple(command for command in (*self.commands, *self._more()) if surface in command.surfaces)

    def read(self, text: str, surface: Surface) -> Typed | None:
        """The command in a text, None if the text is a message; UserError if it names a command that is not there."""
        found = _typed.fullmatch(text.rstrip())
        if found is None:
            return None
        command, argument = self.find(found[1], surface), (found[2] or "").strip()
        if not command.destructive(argument):
            return Typed(command, argument)
        rest, _, last = argument.rpartition(" ")
        if last.lower() in CONFIRMED:
            return Typed(command, rest.rstrip())
        return Typed(command, argument, command.destructive(argument) if self._asks(command) else "")

    def find(self, name: str, surface: Surface) -> Command:
        """By name or alias, else the first whose name, else whose alias begins so; those that come and go give way."""
        wanted, there = name.lower(), self.on(surface)
        fixed = tuple(command for command in self.commands if surface in command.surfaces)
        matches = (
            *(command for command in there if wanted in (command.name, *command.aliases)),
            *(command for command in fixed if command.name.startswith(wanted)),
            *(command for command in fixed if any(alias.startswith(wanted) for alias in command.aliases)),
            *(command for command in there if command.name.startswith(wanted)),
        )
        if not matches:
            raise UserError(f"there is no command /{wanted}", self._hint(wanted, there))
        return matches[0]

    def _hint(self, wanted: str, there: tuple[Command, ...]) -> str:
        names = [name for command in there for name in (command.name, *command.aliases)]
        if near := difflib.get_close_matches(wanted, names, 1):
            return f"did you mean /{near[0]}?"
        return "/help lists them; with a space before the slash it is a message"
