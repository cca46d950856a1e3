"""One fault server and one client of it, both fresh, in which a single thing is tried."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Literal

from msgspec import Struct

from hermes.config import McpServer
from hermes.mcp.chaos.faults import Fault
from hermes.mcp.chaos.ledger import Counts
from hermes.mcp.chaos.plan import Era, Plan
from hermes.mcp.chaos.server import ChaosServer
from hermes.mcp.chaos.stdio import StdioChaos
from hermes.mcp.contract import (
    CallTool,
    NeedsLogin,
    Operation,
    OutcomeUnknown,
    Sample,
    ServerFailed,
    TimedOut,
    Unreachable,
)
from hermes.mcp.server import Server
from hermes.protocol.events import Answered, Request

Way = Literal["http", "stdio", "wrapped stdio"]
Ending = Literal["answered", "failed", "outcome unknown", "timed out", "needs login", "unreachable"]

ENDINGS: dict[type[ServerFailed], Ending] = {
    ServerFailed: "failed",
    OutcomeUnknown: "outcome unknown",
    TimedOut: "timed out",
    NeedsLogin: "needs login",
    Unreachable: "unreachable",
}
KEY = "a"
COUNT = CallTool("count", {"key": KEY})
ECHO = CallTool("echo", {"text": "hello"})
PATIENCE = 5.0
"""Seconds that a call, or the return to health after it, may take."""
LOOK = 0.005


class Outcome(Struct, frozen=True):
    """How a call came through: its end, how often its effect happened (None: it has none), connections made anew."""

    ending: Ending
    connects: int = 0
    runs: int | None = None

    def __str__(self) -> str:
        ran = "" if self.runs is None else f", ran {self.runs}x"
        anew = "" if not self.connects else f", {self.connects} reconnect" + ("s" if self.connects > 1 else "")
        return f"{self.ending}{ran}{anew}"


class Nobody:
    """Whom the runner calls for: there is no one to ask."""

    session = "chaos"
    roots: tuple[str, ...] = ()

    async def ask(self, request: Request, timeout: float) -> Answered | None:
        return None

    async def sample(self, server: str, wish: Sample) -> Mapping[str, Any]:
        raise ServerFailed(server, "there is no model here")

    def progress(self, text: str) -> None:
        return None


class Trial:
    """What a case plays with."""

    def __init__(self, chaos: ChaosServer | StdioChaos, server: Server, era: Era) -> None:
        self.server = server
        self._chaos = chaos
        self._era = era

    @property
    def counts(self) -> Counts:
        return self._chaos.counts

    @property
    def connects(self) -> int:
        """Connections made so far: processes, or opening requests of the era."""
        if isinstance(self._chaos, StdioChaos):
            return len(self.counts.processes)
        return self.counts.discoveries if self._era == "modern" else self.counts.initializations

    async def arm(self, *faults: Fault) -> None:
        """Faults that wait for no request have happened when this returns."""
        if isinstance(self._chaos, ChaosServer):
            return await self._chaos.arm(*faults)
        played = self.counts.faults + sum(fault.at_once for fault in faults)
        self._chaos.arm(*faults)
        await until(lambda: self.counts.faults >= played)

    async def ask(self, operation: Operation, timeout: float = PATIENCE) -> Ending:
        """Make one call and say how it ended."""
        try:
            await self.server.request(operation, Nobody(), timeout=timeout)
        except ServerFailed as failed:
            return ENDINGS[type(failed)]
        return "answered"

    async def recover(self) -> None:
        """Return when a call is answered again, or raise TimeoutError."""
        async with asyncio.timeout(PATIENCE):
            while await self.ask(ECHO) != "answered":  # noqa: ASYNC110, a call is the only proof of health
                await asyncio.sleep(LOOK)

    async def outcome(self, operation: Operation, faults: tuple[Fault, ...], timeout: float) -> tuple[Outcome, float]:
        """Make one call under these faults; how it went, and the seconds until there was a good answer again."""
        connects = self.connects
        await self.arm(*faults)
        began = time.monotonic()
        ending = await self.ask(operation, timeout)
        if ending != "answered":
            await self.recover()
        seconds = time.monotonic() - began
        runs = sum(self.counts.keys.values()) if operation_name(operation) == "count" else None
        return Outcome(ending, self.connects - connects, runs), seconds


def operation_name(operation: Operation) -> str:
    return operation.name if isinstance(operation, CallTool) else ""


async def until(true: Callable[[], Any], seconds: float = PATIENCE) -> None:
    """Wait until it is so, or raise TimeoutError."""
    async with asyncio.timeout(seconds):
        while not true():  # noqa: ASYNC110, what is waited for may happen in another process
            await asyncio.sleep(LOOK)


@asynccontextmanager
async def open_trial(way: Way, era: Era, environ: Mapping[str, str]) -> AsyncIterator[Trial]:
    """A fault server with a client that is connected to it."""
    if way == "http":
        async with ChaosServer(Plan(era=era)) as chaos:
            async with _connected(McpServer(url=chaos.url), environ) as server:
                stream = "subscriptions/listen" if era == "modern" else "GET"
                await until(lambda: chaos.counts.requests.get(stream))
                yield Trial(chaos, server, era)
        return
    with tempfile.TemporaryDirectory(prefix="hermes-chaos-") as folder:
        child = StdioChaos(Path(folder), era=era, wrapped=way == "wrapped stdio")
        settings = McpServer(command=child.command[0], args=child.command[1:])
        async with _connected(settings, environ) as server:
            yield Trial(child, server, era)


@asynccontextmanager
async def _connected(settings: McpServer, environ: Mapping[str, str]) -> AsyncIterator[Server]:
    server = Server("chaos", settings, environ=environ)
    server.start()
    try:
        if not await server.settled(4 * PATIENCE):
            raise ServerFailed("chaos", f"the fault server could not be reached: {server.status().last_error}")
        yield server
    finally:
        await server.close()
