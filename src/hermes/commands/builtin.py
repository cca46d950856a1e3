"""The commands that Hermes comes with, in the order in which they are listed and matched."""

from hermes.app import App
from hermes.commands import (
    around,
    beside,
    budgets,
    compress,
    conversation,
    debug,
    files,
    goal,
    insights,
    installation,
    learn,
    manner,
    mcp,
    memory,
    pictures,
    screen,
    sessions,
    settings,
    skills,
    update,
)
from hermes.commands.lasting import keep
from hermes.commands.quick import quick_commands
from hermes.commands.registry import Command, Registry

BUILTIN = (
    conversation.NEW,
    conversation.RETRY,
    conversation.UNDO,
    conversation.TITLE,
    compress.COMPRESS,
    beside.BRANCH,
    files.ROLLBACK,
    files.SNAPSHOT,
    conversation.STOP,
    beside.BACKGROUND,
    conversation.QUEUE,
    conversation.STEER,
    goal.GOAL,
    sessions.STATUS,
    sessions.RESUME,
    sessions.SESSIONS,
    settings.MODEL,
    manner.PERSONALITY,
    manner.REASONING,
    manner.FAST_ANSWERS,
    settings.YOLO,
    screen.HELP,
    sessions.USAGE,
    insights.INSIGHTS,
    memory.MEMORY,
    learn.LEARN,
    budgets.BUDGET,
    settings.CONFIG,
    screen.CLEAR,
    sessions.HISTORY,
    files.SAVE,
    screen.COPY,
    pictures.IMAGE,
    settings.TOOLS,
    settings.TOOLSETS,
    skills.SKILLS,
    skills.CURATOR,
    skills.RELOAD,
    mcp.MCP,
    installation.RELOAD,
    mcp.RELOAD,
    screen.DETAILS,
    screen.VERBOSE,
    screen.SKIN,
    screen.BUSY_INPUT,
    around.TIMESTAMPS,
    around.STATUSBAR,
    around.FOOTER,
    around.INDICATOR,
    around.PASTE,
    around.COMPOSE,
    screen.REDRAW,
    installation.PROFILE,
    installation.VERSION,
    update.UPDATE,
    debug.DEBUG,
    screen.QUIT,
)


def registry_of(app: App) -> Registry:
    """The commands of an app: the built-in ones, behind them those of its settings, and behind these its skills."""
    own = (*BUILTIN, *quick_commands(app.settings.file.quick_commands, Registry(BUILTIN)))
    taken = frozenset(name for command in own for name in (command.name, *command.aliases))

    def asks(command: Command) -> bool:
        wanted = app.settings.file.approvals
        return wanted.destructive_slash_confirm and getattr(wanted, command.silenced_by)

    return Registry(own, asks, more=skills.Called(app, taken))


async def ask_no_more(app: App, command: Command) -> None:
    """Let destructive commands such as this one run without a question from now on, in every session."""
    await keep(app, f"approvals.{command.silenced_by}", False)
