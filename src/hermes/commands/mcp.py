"""Commands about MCP servers: how they are, and reading their settings anew."""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from hermes.commands.registry import Command, Context, Outcome
from hermes.mcp.contract import Status
from hermes.mcp.words import bounded, visible

if TYPE_CHECKING:
    from hermes.mcp.server import Server

PATIENCE = 5.0
"""Seconds that a reload waits for what is new to connect."""
LONGEST_ERROR = 160
GIVEN_UP = ("parked", "needs_auth", "backoff")
HOW_TO_ADD = "There are no MCP servers. `hermes mcp add NAME --url URL` adds one, or `--command PROGRAM`."


async def mcp(ctx: Context, argument: str) -> Outcome:
    told = {tool.toolset for tool in ctx.session.tools.told}
    # Before the first turn the model was told of no server's tools, and nobody can say which will fit.
    begun = "tool_search" in told
    lines = [
        _described(server, not begun or f"mcp-{server.name}" in told) for server in ctx.app.connections.servers.all()
    ]
    return Outcome(reply="\n".join(lines) or HOW_TO_ADD)


async def reload(ctx: Context, argument: str) -> Outcome:
    connections = ctx.app.connections
    before = {server.name: server for server in connections.servers.all()}
    await connections.reload()
    revived = [server for server in connections.servers.all() if server.status().state in GIVEN_UP]
    await asyncio.gather(connections.servers.settle(PATIENCE), _revive(revived))
    after = {server.name: server for server in connections.servers.all()}
    changes = (
        ("added", after.keys() - before.keys()),
        ("removed", before.keys() - after.keys()),
        ("started anew", {name for name in after.keys() & before.keys() if after[name] is not before[name]}),
    )
    said = [f"{what}: {', '.join(f'`{name}`' for name in sorted(names))}" for what, names in changes if names]
    head = f"MCP servers: {'; '.join(said)}." if said else "The settings of MCP servers are as they were."
    lines = [_described(server, True) for server in after.values()]
    return Outcome(reply="\n".join([head, *lines]))


async def _revive(servers: "Sequence[Server]") -> None:
    """Try again what was given up, and wait until it is known whether it works."""
    changed = asyncio.Event()
    ends = [server.watch(lambda _: changed.set()) for server in servers]
    for server in servers:
        server.reconnect()
    try:
        with suppress(TimeoutError):  # the server's line says that it is still connecting
            async with asyncio.timeout(PATIENCE):
                while any(server.status().state == "connecting" for server in servers):
                    changed.clear()
                    await changed.wait()
    finally:
        for end in ends:
            end()


def _described(server: "Server", in_prompt: bool) -> str:
    from hermes.mcp.tools import used_tools

    return _line(server.status(), len(used_tools(server.catalog, server.settings.tools)), in_prompt)


def _line(status: Status, used: int, in_prompt: bool) -> str:
    """One server in one line: what is usual is left out."""
    count = f"{used} of {status.tools}" if used < status.tools else f"{status.tools}"
    facts = [status.transport, status.state, f"{count} {'tool' if status.tools == 1 else 'tools'}"]
    if used and not in_prompt:
        facts.append("found by tool_search")
    if status.breaker != "closed":
        facts.append(f"breaker {status.breaker}" + (f" for {status.cooldown:.0f} s" if status.cooldown else ""))
    if status.restarts:
        facts.append("connected anew once" if status.restarts == 1 else f"connected anew {status.restarts} times")
    if status.latency is not None:
        facts.append(f"{status.latency * 1000:.0f} ms")
    if status.last_error:
        facts.append(f"last error: {bounded(' '.join(visible(status.last_error).split()), LONGEST_ERROR)}")
    return f"- `{status.name}`: {', '.join(facts)}"


def _question(argument: str) -> str:
    return (
        "Read the settings of MCP servers anew? If their tools change, the next request cannot use the prompt's cache."
    )


MCP = Command(name="mcp", help="show the MCP servers and how they are", run=mcp)
RELOAD = Command(
    name="reload-mcp",
    usage="[now]",
    help="read the settings of MCP servers anew, connect to what is new, and revive what was given up",
    run=reload,
    destructive=_question,
    silenced_by="mcp_reload_confirm",
)
