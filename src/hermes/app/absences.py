"""MCP servers that a session goes without: the person is told of each, once, with what to do about it."""

import asyncio
import logging

from hermes.agent.session import Session
from hermes.app.alongside import Alongside
from hermes.app.supply import ServerSupply
from hermes.mcp.contract import Status
from hermes.mcp.words import bounded, visible
from hermes.protocol.errors import HermesError
from hermes.protocol.events import Notice

log = logging.getLogger(__name__)
LONGEST = 160


class Absences:
    """Follows sessions, each from its first turn on until it is closed."""

    def __init__(self) -> None:
        self._tasks = Alongside()

    def follow(self, session: Session, supply: ServerSupply) -> None:
        self._tasks.start(_until_closed(session, supply))

    async def close(self) -> None:
        await self._tasks.close()


async def _until_closed(session: Session, supply: ServerSupply) -> None:
    telling = asyncio.create_task(_tell(session, supply))
    try:
        await session.closed()
    finally:
        telling.cancel()


async def _tell(session: Session, supply: ServerSupply) -> None:
    changed, told = asyncio.Event(), set[str]()
    stop = supply.servers.watch(lambda server: changed.set())
    try:
        await supply.settled.wait()
        while True:
            changed.clear()
            for status in supply.statuses():
                if status.name not in told and is_absent(status):
                    told.add(status.name)
                    await session.tell(Notice(absence(status), level="warning", code="mcp"))
            await changed.wait()
    except HermesError as error:
        log.info("session %s was told no more of its MCP servers: %s", session.id, error)
    finally:
        stop()


def is_absent(status: Status) -> bool:
    """Whether a try to connect has failed and nothing is left of its tools; one that is only slow is on its way."""
    return status.state == "needs_auth" or (status.state != "ready" and not status.tools and bool(status.last_error))


def absence(status: Status) -> str:
    if status.state == "needs_auth":
        return f"MCP server {status.name!r} wants a login: hermes mcp login {status.name}"
    why = bounded(" ".join(visible(status.last_error).split()), LONGEST)
    return f"MCP server {status.name!r} is not there ({why}): hermes mcp test {status.name}"
