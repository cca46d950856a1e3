"""The seam between the loop and what the model can do."""

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, Literal, Protocol, cast

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

    `args` is the type that its arguments are decoded to. `effect` is False only if the call changes nothing. `parallel`
    calls of one step may run together although they have effects; `writes` names the paths that a call will write, so that
    calls on different files may run together too.
    """

    spec: ToolSpec
    args: Any
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
        given: Any = msgspec.json.decode(raw if raw.strip() else "{}")
    except msgspec.DecodeError as error:
        raise ToolError(f"{tool.spec.name} did not run: its arguments are not JSON ({error}).") from error
    if not isinstance(given, dict):
        raise ToolError(f"{tool.spec.name} did not run: its arguments must be one JSON object.")
    if hasattr(tool.args, "__struct_fields__"):
        given = _known(tool, cast(dict[str, Any], given))
    try:
        return msgspec.convert(given, tool.args, strict=False)
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$.")
        raise ToolError(f"{tool.spec.name} did not run: {where.rstrip('`') or 'arguments'}: {what}.") from error


def _known(tool: Tool, given: dict[str, Any]) -> dict[str, Any]:
    """Without nulls, which models send for what they leave out; raises on names that are wrong or missing."""
    fields = _fields(tool.args)
    given = {name: value for name, value in given.items() if value is not None}
    unknown = given.keys() - {field.name for field in fields}
    missing = [field.name for field in fields if field.required and field.name not in given]
    if not unknown and not missing:
        return given
    wrong = [f"unknown argument {name!r}" for name in sorted(unknown)]
    wrong += [f"argument {name!r} is missing" for name in missing]
    takes = ", ".join(field.name if field.required else f"{field.name}?" for field in fields)
    raise ToolError(f"{tool.spec.name} did not run: {'; '.join(wrong)}. It takes ({takes}).")


@cache
def _fields(args: type) -> tuple[msgspec.structs.FieldInfo, ...]:
    # msgspec reads the annotations anew each time, which takes longer than all the rest.
    return msgspec.structs.fields(args)


PluginKind = Literal["tools", "models", "terminals", "platforms", "memory", "commands", "skills"]
