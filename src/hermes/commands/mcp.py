"""Commands about MCP servers: how they are, and reading their settings anew."""

from hermes.commands.registry import Command, Context, Outcome
from hermes.mcp.contract import Status
from hermes.mcp.words import bounded, visible

PATIENCE = 5.0
"""Seconds that a reload waits for what is new to connect."""
LONGEST_ERROR = 160
HOW_TO_ADD = "There are no MCP servers. `hermes mcp add NAME --url URL` adds one, or `--command PROGRAM`."


async def mcp(ctx: Context, argument: str) -> Outcome:
    statuses = ctx.app.connections.servers.statuses()
    told = {tool.toolset for tool in ctx.session.tools.told}
    return Outcome(reply="\n".join(_line(one, f"mcp-{one.name}" in told) for one in statuses) or HOW_TO_ADD)


async def reload(ctx: Context, argument: str) -> Outcome:
    connections = ctx.app.connections
    before = {server.name: server for server in connections.servers.all()}
    await connections.reload()
    await connections.servers.settle(PATIENCE)
    after = {server.name: server for server in connections.servers.all()}
    changes = (
        ("added", after.keys() - before.keys()),
        ("removed", before.keys() - after.keys()),
        ("started anew", {name for name in after.keys() & before.keys() if after[name] is not before[name]}),
    )
    said = [f"{what}: {', '.join(f'`{name}`' for name in sorted(names))}" for what, names in changes if names]
    head = f"MCP servers: {'; '.join(said)}." if said else "The settings of MCP servers are as they were."
    lines = [_line(server.status(), True) for server in after.values()]
    return Outcome(reply="\n".join([head, *lines]))


def _line(status: Status, in_prompt: bool) -> str:
    """One server in one line: what is usual is left out."""
    facts = [status.transport, status.state, f"{status.tools} tools" if status.tools != 1 else "1 tool"]
    if status.tools and not in_prompt:
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
    help="read the settings of MCP servers anew, and connect to what is new",
    run=reload,
    destructive=_question,
)
