"""For whom the programs of the bench call MCP servers: nobody, who answers nothing. And how they open one."""

import asyncio
import resource
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import hermes.mcp.generation  # noqa: F401  what it takes to load the SDK is measured elsewhere
from hermes.config import McpServer
from hermes.mcp.contract import Sample
from hermes.mcp.make import Asking
from hermes.mcp.server import Server
from hermes.protocol.events import Answered, Request

PATIENCE = 30.0
STDIO = (sys.executable, "-m", "hermes.mcp.chaos", "--stdio")


class Nobody:
    session = "bench"
    roots: tuple[str, ...] = ()

    async def ask(self, request: Request, timeout: float) -> Answered | None:
        return None

    async def sample(self, server: str, wish: Sample) -> Mapping[str, Any]:
        raise AssertionError("the fault server asks no model")

    def progress(self, text: str) -> None:
        return None


@asynccontextmanager
async def opened(url: str = "") -> AsyncIterator[Server]:
    """A connected server: the fault server at this URL, or one that is started."""
    entry = McpServer(url=url) if url else McpServer(command=STDIO[0], args=STDIO[1:])
    server = Server("fault", entry, environ={}, handlers=Asking("fault", entry))
    server.start()
    try:
        if not await server.settled(PATIENCE):
            sys.exit(f"the fault server could not be reached: {server.status().last_error}")
        yield server
    finally:
        await server.close()


async def until(true: Callable[[], object]) -> None:
    """Look every millisecond until it is so."""
    async with asyncio.timeout(PATIENCE):
        while not true():
            await asyncio.sleep(0.001)


def own() -> float:
    """Milliseconds of CPU of this process, without those that it started."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return (used.ru_utime + used.ru_stime) * 1000
