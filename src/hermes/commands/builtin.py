"""The commands that Hermes comes with, in the order in which they are listed and matched."""

from hermes.commands import conversation, files, mcp, screen, sessions, settings

BUILTIN = (
    conversation.NEW,
    conversation.RETRY,
    conversation.UNDO,
    conversation.TITLE,
    files.ROLLBACK,
    conversation.STOP,
    conversation.QUEUE,
    conversation.STEER,
    sessions.STATUS,
    sessions.RESUME,
    sessions.SESSIONS,
    settings.MODEL,
    settings.YOLO,
    screen.HELP,
    sessions.USAGE,
    settings.CONFIG,
    screen.CLEAR,
    sessions.HISTORY,
    files.SAVE,
    settings.TOOLS,
    settings.TOOLSETS,
    mcp.MCP,
    mcp.RELOAD,
    screen.QUIT,
)
