"""`hermes mcp list` and `hermes mcp test`: how servers are, and where a connection fails."""

import argparse
import asyncio
import importlib
import re
import sys
import time
from contextlib import suppress

import msgspec

from hermes.cli.main import print_error
from hermes.cli.mcp_connect import Nobody, connecting, entry_named, redactor
from hermes.cli.table import Column, one_line, print_table
from hermes.cli.words import many
from hermes.config import McpServer, Settings
from hermes.mcp.contract import ListPrompts, ListResources, Operation, ServerFailed, Status
from hermes.mcp.server import Server, transport_of
from hermes.mcp.tools import used_tools
from hermes.protocol.errors import UserError

PATIENCE = 8.0
"""Seconds that a list waits for its slowest server."""
SHOWN = 12
SDK = "hermes.mcp.generation"
"""What imports the SDK, for most of a second: not to be counted as a server's time."""
_unset = re.compile(r"\$\{(?:env:)?(\w+)\}")
COLUMNS = (
    Column("name"),
    Column("transport"),
    Column("state"),
    Column("tools", right=True),
    Column("breaker"),
    Column("restarts", right=True),
    Column("latency", right=True),
    Column("last error", shrinks=True),
)


async def show_list(settings: Settings, args: argparse.Namespace) -> int:
    entries = settings.file.mcp_servers
    async with connecting(settings, (name for name, one in entries.items() if one.enabled)) as servers:
        await asyncio.gather(*map(_measure, servers.values()))
        found = {name: server.status() for name, server in servers.items()}
        used = {name: len(used_tools(server.catalog, server.settings.tools)) for name, server in servers.items()}
    rows = [found.get(name) or _off(name, entry) for name, entry in entries.items()]
    if vars(args).get("json"):
        print(msgspec.json.encode(rows).decode())
    elif rows:
        print_table(COLUMNS, [_row(one, entries[one.name], used.get(one.name, 0)) for one in rows], sys.stdout)
    else:
        print_error("there are no MCP servers", "hermes mcp add NAME --url URL, or --command PROGRAM")
    return 0


async def _measure(server: Server) -> None:
    """Wait for a server and, where it has a list that costs nothing to read, see how quickly it answers."""
    if not await server.settled(PATIENCE):
        return
    op = ListResources() if server.catalog.resources else ListPrompts() if server.catalog.prompts else None
    if op is not None:
        with suppress(ServerFailed):  # its status tells
            await server.request(op, Nobody(), timeout=PATIENCE)


def _off(name: str, entry: McpServer) -> Status:
    return Status(name=name, transport=transport_of(entry), state="closed", breaker="closed", tools=0)


def _row(status: Status, entry: McpServer, used: int) -> tuple[str, ...]:
    return (
        status.name,
        status.transport,
        status.state if entry.enabled else "disabled",
        f"{used} of {status.tools}" if used < status.tools else str(status.tools),
        status.breaker,
        str(status.restarts),
        "" if status.latency is None else f"{status.latency * 1000:.0f} ms",
        one_line(status.last_error),
    )


async def show_test(settings: Settings, args: argparse.Namespace) -> int:
    """Each step of a connection with its time; 1 if one of them fails."""
    entry = entry_named(settings, args.name)
    _step("settings", redactor(settings).mask(_settings(args.name, entry)))
    await asyncio.to_thread(importlib.import_module, SDK)
    async with connecting(settings, [args.name]) as servers:
        server, began = servers[args.name], time.monotonic()
        await server.settled(entry.connect_timeout)
        status, took = server.status(), time.monotonic() - began
        if status.state != "ready":
            wanted = f"; log in: hermes mcp login {args.name}" if status.state == "needs_auth" else ""
            _step("connect", f"{status.last_error or status.state}{wanted}", took)
            return 1
        _step("connect", f"protocol {status.protocol}, server version {server.catalog.version or 'unknown'}", took)
        _step("tools", _tools(server, entry))
        asked: list[tuple[str, Operation]] = []
        asked += [("resources", ListResources())] if server.catalog.resources else []
        asked += [("prompts", ListPrompts())] if server.catalog.prompts else []
        return max([await _ask(server, what, op) for what, op in asked], default=0)


def _settings(name: str, entry: McpServer) -> str:
    """How a server is reached, and what in its settings may not be as it was meant."""
    if not entry.url and not entry.command:
        raise UserError(
            f"{name} has neither a command nor a URL", f"hermes config set mcp_servers.{name}.command PROGRAM"
        )
    facts = [transport_of(entry), entry.url or " ".join((entry.command, *entry.args))]
    facts += ["its command is not used"] if entry.url and entry.command else []
    facts += [] if entry.enabled else ["disabled"]
    given = (entry.url, entry.command, *entry.args, *entry.env.values(), *entry.headers.values())
    facts += [f"{variable} is not set" for variable in dict.fromkeys(_unset.findall(" ".join(given)))]
    return ", ".join(facts)


def _tools(server: Server, entry: McpServer) -> str:
    names, used = server.catalog.tools, used_tools(server.catalog, entry.tools)
    listed = ", ".join(used[:SHOWN]) + (" …" if len(used) > SHOWN else "")
    left_out = f", {len(names) - len(used)} left out by the settings" if len(used) < len(names) else ""
    return f"{len(used)}{left_out}" + (f": {listed}" if used else "")


async def _ask(server: Server, what: str, op: Operation) -> int:
    began = time.monotonic()
    try:
        listed = await server.request(op, Nobody(), timeout=PATIENCE)
    except ServerFailed as error:
        _step(what, str(error), time.monotonic() - began)
        return 1
    _step(what, many(len(getattr(listed, what)), what[:-1]), time.monotonic() - began)
    return 0


def _step(what: str, found: str, seconds: float | None = None) -> None:
    took = "" if seconds is None else f"{seconds * 1000:.0f} ms"
    print(f"{what:<10} {took:>8}  {one_line(found)}", flush=True)
