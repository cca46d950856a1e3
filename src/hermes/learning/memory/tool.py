"""The memory tool as the model is told of it; what it does is loaded when it is called."""

from collections.abc import Awaitable, Callable
from typing import Literal

import msgspec
from msgspec import Raw, Struct

from hermes.config import File
from hermes.protocol.errors import ToolError
from hermes.protocol.models import ToolSpec
from hermes.protocol.targets import Target
from hermes.protocol.tools import Result, Tool, ToolContext

Action = Literal["add", "replace", "remove"]
ABOUT = (
    "Keep lasting facts for later sessions: target user (who the person is, what they like) or memory (environment, "
    "project, lessons). Not for task progress. replace and remove name the entry by old_text, a unique piece of it."
)
_ONE = {
    "action": {"type": "string", "enum": ["add", "replace", "remove"]},
    "content": {"type": "string"},
    "old_text": {"type": "string"},
}
SCHEMA = {
    "type": "object",
    "properties": {
        **_ONE,
        "target": {"type": "string", "enum": ["memory", "user"]},
        "operations": {
            "type": "array",
            "items": {"type": "object", "properties": _ONE, "required": ["action"]},
            "description": "several at once, all or none",
        },
    },
    "required": ["target"],
}


class Operation(Struct, frozen=True, forbid_unknown_fields=True):
    action: Action
    content: str = ""
    old_text: str = ""


class Arguments(Struct, frozen=True, forbid_unknown_fields=True):
    target: Target
    action: Action | None = None
    content: str = ""
    old_text: str = ""
    operations: tuple[Operation, ...] = ()


Change = Callable[[ToolContext, Arguments], Awaitable[Result]]


def memory_tool(change: Change) -> Tool:
    return Tool(
        spec=ToolSpec("memory", ABOUT, Raw(msgspec.json.encode(SCHEMA))),
        args=Arguments,
        run=change,
        kind="other",
        toolset="memory",
        title=lambda args: f"{args.action or 'change'} {args.target}: {args.content or args.old_text}"[:80],
    )


def memory_tools(settings: File) -> list[Tool]:
    """The tool as lists show it; a session's own is made by the app, which has the notebook."""

    async def closed(ctx: ToolContext, args: Arguments) -> Result:
        raise ToolError("No memory is open here.")

    return [memory_tool(closed)]
