"""The real app with witnesses: of every judgement of the gate, of every effect below it, and of what a tool does past both.

Python itself tells (by an audit hook) of files opened and processes started while a built-in tool runs: a tool that reaches
the world by a way of its own is noticed too.
"""

import os
import sys
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from types import FrameType
from typing import Any, Self, cast

from msgspec.structs import replace

from hermes import config
from hermes.app import App, Wish
from hermes.app.world import LocalWorld
from hermes.protocol.actions import Action, CallServer, Origin, ReadPath, RunCommand, Verdict, WritePath
from hermes.protocol.models import Model
from hermes.protocol.terminals import BackgroundProcess, Files, Match, ProcessInfo, Ran, Search, Stat, Terminal
from hermes.protocol.tools import Result, Tool, ToolContext
from hermes.safety.gate import Gate, Policy
from hermes.safety.typed import with_input

SAFETY = f"{os.sep}hermes{os.sep}safety{os.sep}"
CHANGES = {
    "os.chmod",
    "os.exec",
    "os.fork",
    "os.link",
    "os.mkdir",
    "os.posix_spawn",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.symlink",
    "os.system",
    "os.truncate",
    "socket.bind",
    "socket.connect",
    "socket.getaddrinfo",
    "socket.sendto",
    "subprocess.Popen",
}


class Ledger:
    """What was judged and what happened. An effect that no judgement allowed before it is in `unjudged`; what a tool did
    before anything was allowed, by whatever way, is in `unasked`."""

    def __init__(self, *, refuse: bool) -> None:
        self.refuse = refuse
        self.judged: list[tuple[Action, Origin, Verdict]] = []
        self.effects: list[str] = []
        self.unjudged: list[str] = []
        self.unasked: list[str] = []
        self._open: list[Action] = []

    def judge(self, action: Action, origin: Origin, verdict: Verdict) -> Verdict:
        if self.refuse:
            verdict = Verdict("ask", "matrix", "the matrix asks about everything")
        self.judged.append((action, origin, verdict))
        if verdict.decision == "allow":
            self._open.append(action)
        return verdict

    def effect(self, what: str, target: str) -> None:
        """Something is about to happen below the gate; each judgement is good for the effects of its own target."""
        self.effects.append(f"{what} {target}")
        if not any(_covers(action, what, target) for action in self._open):
            self.unjudged.append(f"{what} {target}")

    def audited(self, event: str, args: tuple[Any, ...]) -> None:
        """Python tells of something that is done inside a tool."""
        where = os.fspath(args[0]) if args and isinstance(args[0], str | bytes | os.PathLike) else ""
        opens = (
            event == "open"
            and not isinstance(args[0], int)  # a descriptor, whose opening was told of before
            and bool(args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT))
            and "__pycache__" not in str(where)
        )
        if (opens or event in CHANGES) and not self._open:
            self.unasked.append(f"{event} {args[:2]}")

    def calls(self) -> list[CallServer]:
        return [action for action, _, verdict in self.judged if isinstance(action, CallServer)]

    def verdicts(self, part: str) -> list[Verdict]:
        """About commands that hold this text."""
        return [v for action, _, v in self.judged if isinstance(action, RunCommand) and part in action.command]


def _covers(action: Action, what: str, target: str) -> bool:
    match action:
        case ReadPath(path):
            return (what, target) == ("read", path)
        case WritePath(path, delete=delete):
            return target == path and what in ("read", "remove" if delete else "write")
        case RunCommand(command):
            # What is typed is judged together with the lines before it.
            before, typing, typed = target.partition(" <<< '")
            judged = command.startswith(before + typing) and command.endswith(typed) if typing else command == target
            return what == "run" and judged
        case _:
            return False


_running: ContextVar[Ledger | None] = ContextVar("_running", default=None)


def _audit(event: str, args: tuple[Any, ...]) -> None:
    watched = event == "open" or event in CHANGES
    if watched and (ledger := _running.get(None)) is not None and not _is_of_the_gate(sys._getframe(1)):
        ledger.audited(event, args)


def _is_of_the_gate(frame: FrameType | None) -> bool:
    """Whether the gate itself is at work: it tries out what its sandbox can do, and keeps what tools said of themselves."""
    while frame is not None:
        if SAFETY in frame.f_code.co_filename:
            return True
        frame = frame.f_back
    return False


sys.addaudithook(_audit)


class WitnessGate:
    """A gate that notes what it is asked; everything else is the real one's."""

    def __init__(self, inner: Gate, ledger: Ledger) -> None:
        self._inner, self._ledger = inner, ledger

    @property
    def policy(self) -> Policy:
        return self._inner.policy

    def judge(self, action: Action, origin: Origin) -> Verdict:
        return self._ledger.judge(action, origin, self._inner.judge(action, origin))

    def choices(self, action: Action, origin: Origin) -> tuple[str, ...]:
        return self._inner.choices(action, origin)

    def remember(self, action: Action, origin: Origin, choice: str) -> None:
        self._inner.remember(action, origin, choice)


class WitnessFiles:
    """Files below the gate."""

    def __init__(self, inner: Files, ledger: Ledger) -> None:
        self._inner, self._ledger = inner, ledger

    async def resolve(self, path: str) -> str:
        return await self._inner.resolve(path)

    async def stat(self, path: str) -> Stat | None:
        return await self._inner.stat(path)

    async def read(self, path: str, limit: int) -> bytes:
        self._ledger.effect("read", path)
        return await self._inner.read(path, limit)

    async def names(self, path: str) -> tuple[str, ...]:
        self._ledger.effect("read", path)
        return await self._inner.names(path)

    async def search(self, search: Search, limit: int) -> tuple[Match, ...]:
        self._ledger.effect("read", search.path)
        return await self._inner.search(search, limit)

    async def write(self, path: str, data: bytes) -> None:
        self._ledger.effect("write", path)
        await self._inner.write(path, data)

    async def remove(self, path: str) -> None:
        self._ledger.effect("remove", path)
        await self._inner.remove(path)


class WitnessProcess:
    def __init__(self, inner: BackgroundProcess, ledger: Ledger) -> None:
        self._inner, self._ledger = inner, ledger

    async def write(self, data: bytes) -> None:
        self._ledger.effect("run", with_input(self._inner.info.command, data))
        await self._inner.write(data)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class WitnessTerminal:
    """A terminal below the gate."""

    def __init__(self, inner: Terminal, ledger: Ledger) -> None:
        self._inner, self._ledger = inner, ledger

    @property
    def processes(self) -> Sequence[BackgroundProcess]:
        return [cast(BackgroundProcess, WitnessProcess(one, self._ledger)) for one in self._inner.processes]

    async def run(self, command: str, **more: Any) -> Ran:
        self._ledger.effect("run", command)
        return await self._inner.run(command, **more)

    async def start(
        self, command: str, *, on_exit: Callable[[ProcessInfo], None] | None = None, **more: Any
    ) -> BackgroundProcess:
        self._ledger.effect("run", command)
        return await self._inner.start(command, on_exit=on_exit, **more)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)


class WitnessApp(App):
    """The app whose every session is watched; with `refuse` the gate asks about everything, and nobody can be asked."""

    def __init__(self, settings: config.Settings, *, refuse: bool) -> None:
        super().__init__(settings)
        self.ledger = Ledger(refuse=refuse)

    def tools(self, wish: Wish, profile: str) -> tuple[Tool, ...]:
        return tuple(self.watched(tool) for tool in super().tools(wish, profile))

    async def __aenter__(self) -> Self:
        return self

    def watched(self, tool: Tool) -> Tool:
        async def run(ctx: ToolContext, args: Any) -> Result:
            token = _running.set(self.ledger)
            try:
                return await tool.run(ctx, args)
            finally:
                _running.reset(token)

        return replace(tool, run=run)

    def world(
        self, session: str, cwd: str, wish: Wish, model: Model, described: Callable[[], Sequence[tuple[str, str]]]
    ) -> LocalWorld:
        world = super().world(session, cwd, wish, model, described)
        world.terminal = cast(Terminal, WitnessTerminal(world.terminal, self.ledger))
        world.files = WitnessFiles(world.files, self.ledger)
        world.gate = cast(Gate, WitnessGate(world.gate, self.ledger))
        return world
