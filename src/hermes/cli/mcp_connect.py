"""Servers as `hermes mcp` connects to them: for the length of one command, and for nobody's session."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from typing import Any

from hermes.config import SECRET_NAME, McpServer, Settings
from hermes.mcp.contract import Sample, ServerFailed
from hermes.mcp.make import make_server
from hermes.mcp.server import Server
from hermes.protocol.errors import UserError
from hermes.protocol.events import Answered, Request
from hermes.safety.secrets.redact import Redactor


class Nobody:
    """Implements Caller for a command: it asks no person and no model."""

    session = ""
    roots: tuple[str, ...] = ()

    async def ask(self, request: Request, timeout: float) -> Answered | None:
        return None

    async def sample(self, server: str, wish: Sample) -> Mapping[str, Any]:
        raise ServerFailed(server, "no model answers while a server is only looked at")

    def progress(self, text: str) -> None:
        return None


def entry_named(settings: Settings, name: str) -> McpServer:
    """A server's settings; UserError if there is none of this name."""
    found = settings.file.mcp_servers.get(name)
    if found is None:
        known = ", ".join(settings.file.mcp_servers)
        hint = f"there is {known}" if known else "hermes mcp add NAME --url URL, or --command PROGRAM"
        raise UserError(f"there is no MCP server {name!r}", hint)
    return found


def redactor(settings: Settings) -> Redactor:
    """Masks whatever the settings keep secret."""
    return Redactor(value for name, value in settings.environ.items() if SECRET_NAME.match(name))


@asynccontextmanager
async def connecting(settings: Settings, names: Iterable[str]) -> AsyncIterator[dict[str, Server]]:
    """Servers that have begun to connect, all at once; they are closed at the end."""
    redact = redactor(settings).mask
    servers = {name: make_server(name, entry_named(settings, name), settings, redact=redact) for name in names}
    try:
        for server in servers.values():
            server.start()
        yield servers
    finally:
        await asyncio.gather(*(server.close() for server in servers.values()))
