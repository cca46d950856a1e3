"""The seam between the loop and what the model can do."""

from collections.abc import Awaitable, Callable
from typing import Any, Literal, Protocol

import msgspec
from msgspec import Struct

from hermes.protocol.actions import Action
from hermes.protocol.errors import ToolError
from hermes.protocol.events import Answered, Channel, Request
from hermes.protocol.items import FileChange, Kind, Location, Part, PlanEntry, Text, Trust
from hermes.protocol.models import ToolSpec
from hermes.protocol.terminals import Files, Terminal


class Result(Struct, frozen=True, kw_only=True):
    """What a call gave: `parts` for the model, `shown` for people (the same text if empty), and the files it changed."""

    parts: tuple[Part, ...]
    shown: str = ""
    title: str = ""
    files: tuple[FileChange, ...] = ()
    locations: tuple[Location, ...] = ()
    source: str = ""
    trust: Trust = "workspace"
    failed: bool = False


def said(text: str, **more: Any) -> Result:
    """A result that is only text."""
    return Result(parts=(Text(text),), **more)


class ToolContext(Protocol):
    """Everything a tool can reach. Files, terminal and the rest are already behind the gate."""

    @property
    def session(self) -> str: ...

    @property
    def files(self) -> Files: ...

    @property
    def terminal(self) -> Terminal: ...

    @property
    def plan(self) -> tuple[PlanEntry, ...]: ...

    async def permit(self, action: Action) -> None:
        """Return if the action may be done, else raise Denied; may ask a person."""
        ...

    async def ask(self, request: Request, timeout: float) -> Answered | None:
        """Ask a person and wait; None if there is nobody to ask."""
        ...

    def emit(self, channel: Channel, text: str) -> None:
        """Show something of the running call to people."""
        ...

    def set_plan(self, entries: tuple[PlanEntry, ...]) -> None: ...

    def post(self, text: str) -> None:
        """Say something to this session later, as a process does that has ended."""
        ...

    async def call(self, name: str, args: str) -> Result:
        """Run another tool with JSON arguments, validated and judged as if the model had called it."""
        ...

    async def keep(self, data: bytes, media_type: str) -> str:
        """Store bytes as a blob; returns its hash."""
        ...

    async def blob(self, ref: str) -> bytes: ...

    def now(self) -> float: ...


class Tool(Struct, frozen=True, kw_only=True):
    """Something the model can do.

    `effect` is False only if the call changes nothing. `parallel` calls of one step may run together although they have
    effects; `writes` names the paths that a call will write, so that calls on different files may run together too.
    """

    spec: ToolSpec
    args: type[Any]
    run: Callable[[ToolContext, Any], Awaitable[Result]]
    kind: Kind = "other"
    toolset: str = ""
    effect: bool = True
    parallel: bool = False
    title: Callable[[Any], str] = lambda args: ""
    writes: Callable[[Any], tuple[str, ...] | None] = lambda args: None
    cap: int = 100_000


def parse_args(tool: Tool, raw: str) -> Any:
    """The arguments of a call, whole and against the tool's schema, or a ToolError that tells the model what is wrong."""
    try:
        return msgspec.json.decode(raw or "{}", type=tool.args, strict=False)
    except msgspec.ValidationError as error:
        raise ToolError(f"{tool.spec.name} was not run, its arguments do not fit: {error}") from None
    except msgspec.DecodeError as error:
        raise ToolError(f"{tool.spec.name} was not run, its arguments are not valid JSON: {error}") from None


PluginKind = Literal["tools", "models", "terminals", "platforms", "memory", "commands", "skills"]
