"""A small real stage for stories about sessions: a scripted model, tools that record, a store on disk."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, Literal

import msgspec

from hermes.agent.desk import Equipment, Scope
from hermes.agent.session import Options, Session
from hermes.protocol.events import Event, TurnEnded, TurnStarted
from hermes.protocol.items import Text
from hermes.protocol.models import Began, Delta, Ended, Finished, Grew, ModelRequest, Tokens, ToolSpec
from hermes.protocol.ops import AnyOp, Budget, Redirect, Say
from hermes.protocol.tools import Result, Tool, ToolContext, said
from hermes.store.owner import this_process
from hermes.store.sqlite import SqliteStore, make_blob

Step = list[Delta | Exception | Callable[[], Awaitable[None]]]


def text(words: str, index: int = 0) -> Step:
    return [Began(index, "text"), Grew(index, words), Ended(index)]


def thought(words: str, index: int = 0, opaque: str = "") -> Step:
    return [Began(index, "thought"), Grew(index, words), Ended(index, opaque)]


def call(name: str, args: str = "{}", index: int = 0, call_id: str = "") -> Step:
    half = len(args) // 2
    return [
        Began(index, "call", call_id or f"c{index}", name),
        Grew(index, args[:half]),
        Grew(index, args[half:]),
        Ended(index),
    ]


def finish(reason: Any = "stop", tokens: Tokens = Tokens(input=10, output=5), cost: float | None = None) -> Step:
    return [Finished(reason, tokens, "scripted", cost)]


def answer(words: str) -> Step:
    return text(words) + finish()


class ScriptedModel:
    """Answers with one step of its script per call; remembers what it was asked."""

    dialect = "scripted"
    window = 100_000
    profile: Literal["full", "small"] = "full"

    def __init__(self, *steps: Step, name: str = "scripted") -> None:
        self.name = name
        self.steps = list(steps)
        self.requests: list[ModelRequest] = []
        self.open_calls = 0

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta]:
        self.requests.append(request)
        step = self.steps.pop(0) if self.steps else answer("done")
        self.open_calls += 1
        try:
            for part in step:
                if isinstance(part, Exception):
                    raise part
                if callable(part):
                    await part()
                    continue
                yield part
        finally:
            self.open_calls -= 1


class Args(msgspec.Struct, forbid_unknown_fields=True):
    word: str = ""


def make_tool(name: str, run: Callable[[ToolContext, Any], Awaitable[Result]], **more: Any) -> Tool:
    spec = ToolSpec(
        name, f"The tool {name}.", msgspec.Raw(b'{"type":"object","properties":{"word":{"type":"string"}}}')
    )
    return Tool(spec=spec, args=Args, run=run, **more)


class Recording:
    """A tool that writes down when it ran."""

    def __init__(self, name: str = "act", *, effect: bool = True, seconds: float = 0.0, **more: Any) -> None:
        self.ran: list[str] = []
        self.most_at_once = 0
        self._now = 0
        self._seconds = seconds
        self.tool = make_tool(name, self._run, effect=effect, **more)

    async def _run(self, ctx: ToolContext, args: Args) -> Result:
        self._now += 1
        self.most_at_once = max(self.most_at_once, self._now)
        self.ran.append(args.word)
        try:
            await asyncio.sleep(self._seconds)
        finally:
            self._now -= 1
        return said(f"did {args.word}")


class OpenWorld:
    """A world without a gate, for tools that touch nothing."""

    workspace = cwd = "/tmp"

    def __init__(self) -> None:
        self.closed = self.recovered = False
        self.stopped = 0

    def equip(self, scope: Scope) -> Equipment:
        return Equipment(files=None, terminal=None, permit=None)  # type: ignore[arg-type]

    async def move(self, folder: str) -> None:
        self.cwd = folder

    async def recover(self) -> None:
        self.recovered = True

    async def stop_background(self) -> int:
        self.stopped += 1
        return 0

    async def close(self) -> None:
        self.closed = True


class Play:
    """A session on stage, with every event it gave."""

    def __init__(self, session: Session, store: SqliteStore) -> None:
        self.session, self.store = session, store
        self.events: list[Event] = []
        self._arrived = asyncio.Condition()
        self._task = asyncio.create_task(self._listen())

    async def _listen(self) -> None:
        async with aclosing(self.session.events()) as events:
            async for event in events:
                async with self._arrived:
                    self.events.append(event)
                    self._arrived.notify_all()

    @property
    def bodies(self) -> list[Any]:
        return [event.body for event in self.events]

    def kinds(self) -> list[str]:
        return [type(body).__name__ for body in self.bodies]

    def of(self, kind: type) -> list[Any]:
        return [body for body in self.bodies if isinstance(body, kind)]

    async def until(self, true: Callable[[], bool], seconds: float = 10.0) -> None:
        async with asyncio.timeout(seconds), self._arrived:
            await self._arrived.wait_for(true)

    async def say(self, words: str = "go", **more: Any) -> TurnEnded:
        """Say something and wait for the end of its turn."""
        op = Say(parts=(Text(words),), **more)
        await self.session.send(op)
        await self.until(lambda: self._ending(op.id) is not None)
        ended = self._ending(op.id)
        assert ended is not None
        return ended

    def _ending(self, op: str) -> TurnEnded | None:
        turn = next((e.turn for e in self.events if e.body == TurnStarted(op)), None)
        return next((e.body for e in self.events if e.turn == turn and isinstance(e.body, TurnEnded)), None)

    async def send(self, op: AnyOp) -> None:
        await self.session.send(op)

    async def redirect(self, words: str) -> None:
        await self.session.send(Redirect(parts=(Text(words),)))

    async def close(self) -> None:
        await self.session.close()
        await self._task


def options(model: ScriptedModel, *tools: Tool, **more: Any) -> Options:
    defaults: dict[str, Any] = {
        "model": model,
        "tools": tools,
        "system": "You are a test.",
        "world": OpenWorld(),
        "owner": this_process(),
        "version": "0",
        "cwd": "/tmp",
        "blob": make_blob,
        "budget": Budget(),
    }
    return Options(**(defaults | more))


@asynccontextmanager
async def play(folder: Path, model: ScriptedModel, *tools: Tool, resume: str = "", **more: Any):
    """A session on a store in `folder`, closed at the end."""
    async with SqliteStore(folder / "state.db") as store:
        chosen = options(model, *tools, **more)
        session = await (Session.resume(store, chosen, resume) if resume else Session.create(store, chosen))
        stage = Play(session, store)
        try:
            yield stage
        finally:
            await stage.close()
