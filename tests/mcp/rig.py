"""What the tests of the MCP client share: a caller, a clock moved by hand, an authority, and servers that are closed again."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import hermes.mcp.generation  # noqa: F401  the SDK's import would else be part of what the first test measures
from hermes.config import McpServer
from hermes.mcp.chaos.server import ChaosServer
from hermes.mcp.chaos.stdio import StdioChaos
from hermes.mcp.contract import CallTool, GetPrompt, ListPrompts, ListResources, Operation, ReadResource, Sample
from hermes.mcp.server import Server
from hermes.protocol.events import Answered, Request

COUNT = CallTool("count", {"key": "a"})
ECHO = CallTool("echo", {"text": "hello"})
OPERATIONS: dict[str, Operation] = {
    "tools/call": COUNT,
    "resources/list": ListResources(),
    "resources/read": ReadResource("chaos://greeting"),
    "prompts/list": ListPrompts(),
    "prompts/get": GetPrompt("rest", {}),
}
READING: dict[str, Operation] = {name: op for name, op in OPERATIONS.items() if name != "tools/call"}


class Person:
    """For whom a test calls."""

    session = "s1"
    roots: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.told: list[str] = []

    async def ask(self, request: Request, timeout: float) -> Answered | None:
        return None

    async def sample(self, server: str, wish: Sample) -> Mapping[str, Any]:
        raise AssertionError("nobody should ask a model here")

    def progress(self, text: str) -> None:
        self.told.append(text)


class HandClock:
    """Stands still until it is moved."""

    def __init__(self) -> None:
        self.now = 1000.0
        self._sleepers: dict[asyncio.Future[None], float] = {}

    def monotonic(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        if seconds <= 0:
            return await asyncio.sleep(0)
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers[woken] = self.now + seconds
        try:
            await woken
        finally:
            del self._sleepers[woken]

    async def wait(self, work: "asyncio.Future[Any]", seconds: float) -> None:
        woken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._sleepers[woken] = self.now + seconds
        try:
            await asyncio.wait((work, woken), return_when=asyncio.FIRST_COMPLETED)
        finally:
            del self._sleepers[woken]

    @property
    def naps(self) -> list[float]:
        """The seconds until each sleeper wakes, the soonest first."""
        return sorted(due - self.now for woken, due in self._sleepers.items() if not woken.done())

    async def move(self, seconds: float) -> None:
        """Let time pass; whoever sleeps wakes in order."""
        end = self.now + seconds
        while due := [(due, woken) for woken, due in self._sleepers.items() if due <= end and not woken.done()]:
            self.now, woken = min(due, key=lambda one: one[0])
            woken.set_result(None)
            for _ in range(5):
                await asyncio.sleep(0)
        self.now = end


class Office:
    """An authority with a row of headers: each refresh gives the next one, once it `opens`; scopes are granted `wider` times."""

    def __init__(self, *headers: str, wider: int = 0, opens: Callable[[], bool] = lambda: True) -> None:
        self._headers, self._opens = headers, opens
        self._shown = 0
        self._wider = wider
        self.refreshes = 0
        self.step_ups = 0

    async def header(self) -> str:
        return self._headers[self._shown]

    async def refused(self, header: str, challenge: str) -> bool:
        self.refreshes += 1
        await until(self._opens)
        if header != self._headers[self._shown]:
            return True
        if self._shown + 1 == len(self._headers):
            return False
        self._shown += 1
        return True

    def log_in(self, header: str) -> None:
        """Somebody has logged in elsewhere."""
        self._headers, self._shown = (header,), 0

    async def step_up(self, header: str, challenge: str) -> bool:
        self.step_ups += 1
        return self.step_ups <= self._wider


async def until(true: Callable[[], Any], seconds: float = 5.0) -> None:
    """Wait in real time until it is so."""
    async with asyncio.timeout(seconds):
        while not true():
            await asyncio.sleep(0.002)


@asynccontextmanager
async def client(chaos: ChaosServer | StdioChaos | str, *, wait: bool = True, **given: Any) -> AsyncIterator[Server]:
    """A started server of the client; keywords of McpServer are its settings, the others go to Server."""
    fields = {name: given.pop(name) for name in list(given) if name in McpServer.__struct_fields__}
    match chaos:
        case StdioChaos():
            fields |= {"command": chaos.command[0], "args": chaos.command[1:]}
        case ChaosServer():
            fields |= {"url": chaos.url}
        case _:
            fields |= {"url": chaos}
    server = Server("chaos", McpServer(**fields), environ={"PATH": os.defpath}, jitter=lambda: 0.0, **given)
    server.start()
    try:
        if wait:
            await until(lambda: server.status().state == "ready")
        yield server
    finally:
        await server.close()
