"""What `hermes security audit` looks at in MCP servers: how they are reached, and whether their tools are what was approved."""

import asyncio
from collections.abc import AsyncIterator, Iterator

from hermes.cli.audit_reach import is_clear
from hermes.cli.doctor_finding import Finding, fail, ok, warn
from hermes.cli.mcp_connect import connecting
from hermes.cli.mcp_edit import CONTRACTS
from hermes.cli.words import many
from hermes.config import Settings
from hermes.mcp.words import visible
from hermes.safety.contracts import Contracts

PATIENCE = 10.0


def check_entries(settings: Settings) -> Iterator[Finding]:
    """The settings of each server."""
    for name, entry in settings.file.mcp_servers.items():
        if is_clear(entry.url):
            yield fail("mcp", f"{name}: {entry.url} is not encrypted, on its way through the network", "use https://")
        if entry.approval == "allow":
            do = f"hermes config unset mcp_servers.{name}.approval"
            yield warn("mcp", f"the tools of {name} never ask", do)


async def check_contracts(settings: Settings) -> AsyncIterator[Finding]:
    """Each enabled server whose tools were used before: do they still say of themselves what they said then?"""
    contracts = Contracts(settings.home / CONTRACTS)
    names = [name for name, one in settings.file.mcp_servers.items() if one.enabled and (one.url or one.command)]
    asked = [name for name in names if contracts.known(name)]
    if not asked:
        yield ok("mcp", "no tool of a server was used yet" if names else "there are no servers")
        return
    async with connecting(settings, asked) as servers:
        await asyncio.gather(*(server.settled(PATIENCE) for server in servers.values()))
        found = {name: {tool.name: tool.contract for tool in server.catalog.tools} for name, server in servers.items()}
    for name in asked:
        approved = contracts.known(name)
        changed = [tool for tool in approved if found[name].get(tool, approved[tool]) != approved[tool]]
        if changed:
            tools = ", ".join(map(visible, changed))
            do = f"look at it with hermes mcp test {name}; the next call asks you"
            yield fail("mcp", f"{name} describes {tools} otherwise than when you approved it", do)
        elif not found[name]:
            yield warn("mcp", f"{name} does not answer, so nobody can tell", f"hermes mcp test {name}")
        else:
            yield ok("mcp", f"{name}: {many(len(approved), 'tool')} as approved")
