"""Where the figures of the status line come from."""

import time
from collections.abc import Sequence

from hermes.app import App
from hermes.app.world import LocalWorld
from hermes.tui.conversation import Conversation
from hermes.tui.status import Facts


def facts_of(app: App, one: Conversation, there: Sequence[Conversation]) -> Facts:
    """How a conversation stands, among all that are open."""
    session = one.session
    return Facts(
        model=session.model.name,
        used=one.used.context_used if one.used else session.history.context_estimate(),
        size=(one.used.context_size if one.used else 0) or session.model.window,
        cost=one.cost if app.settings.file.display.show_cost else None,
        seconds=time.monotonic() - one.opened,
        servers=_servers(app),
        background=_background(app, one),
        sessions=len(there),
        asking=sum(bool(other.asked) for other in there if other is not one),
    )


def _servers(app: App) -> tuple[int, int]:
    """MCP servers that work, of those that there are. Asking for them would start them: only look where they are."""
    if "connections" not in vars(app):
        return 0, 0
    states = [server.status().state for server in app.connections.servers.all()]
    return sum(state == "ready" for state in states), len(states)


def _background(app: App, one: Conversation) -> int:
    """Processes that this session left running, and questions asked beside it."""
    world = one.session.world
    processes = world.terminal.processes if isinstance(world, LocalWorld) else ()
    asked = app.background.work if "background" in vars(app) else ()
    return sum(process.info.state == "running" for process in processes) + len(asked)
