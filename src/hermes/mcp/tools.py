"""What a server offers, as tools of the model: its own tools, and a few that read its resources and prompts."""

from collections.abc import Awaitable, Callable
from fnmatch import fnmatchcase
from typing import Any, Protocol

import msgspec
from msgspec import Raw, Struct

from hermes.config import McpServer, ToolChoice
from hermes.mcp import content
from hermes.mcp.check import Check
from hermes.mcp.contract import (
    Caller,
    CallTool,
    Catalog,
    GetPrompt,
    ListPrompts,
    ListResources,
    Operation,
    ReadResource,
    ServerFailed,
    ToolInfo,
)
from hermes.mcp.names import hashed_name, tool_name, tool_names
from hermes.mcp.schema import for_models
from hermes.mcp.words import bounded, description, visible
from hermes.protocol.actions import CallServer
from hermes.protocol.errors import ToolError
from hermes.protocol.items import Part, Text
from hermes.protocol.models import ToolSpec
from hermes.protocol.tools import Result, Tool, ToolContext

TITLE = 80


class Connected(Protocol):
    """A server as its tools see it."""

    @property
    def name(self) -> str: ...

    @property
    def catalog(self) -> Catalog: ...

    async def request(self, op: Operation, caller: Caller, *, timeout: float | None = None) -> Any: ...


FindCaller = Callable[[ToolContext], Caller]
Parts = Callable[[Any, content.Keep], Awaitable[tuple[Part, ...]]]


def server_tools(server: Connected, settings: McpServer, caller: FindCaller) -> tuple[Tool, ...]:
    """The tools of a server's newest catalog that the settings let through, and those for its resources and prompts."""
    catalog = server.catalog
    # Also what is left out takes part in the naming, so that a change of the settings renames nothing.
    names = tool_names(server.name, (info.name for info in catalog.tools))
    unique = {info.name: info for info in reversed(catalog.tools)}
    own = [_tool(server, unique[tool], name, caller) for tool, name in names.items() if is_chosen(tool, settings.tools)]
    wanted = (
        *(RESOURCES if catalog.resources and settings.tools.resources else ()),
        *(PROMPTS if catalog.prompts and settings.tools.prompts else ()),
    )
    taken = set(names.values())
    return (*own, *(_utility(server, one, taken, caller) for one in wanted))


def is_chosen(tool: str, choice: ToolChoice) -> bool:
    """Whether the settings let a tool through, by its own name: `include` wins over `exclude`."""
    if choice.include:
        return any(fnmatchcase(tool, pattern) for pattern in choice.include)
    return not any(fnmatchcase(tool, pattern) for pattern in choice.exclude)


def used_tools(catalog: Catalog, choice: ToolChoice) -> tuple[str, ...]:
    """Those of a server's tools that the settings let through, by their own names."""
    return tuple(info.name for info in catalog.tools if is_chosen(info.name, choice))


def _tool(server: Connected, info: ToolInfo, name: str, caller: FindCaller) -> Tool:
    check = Check(bytes(info.schema))

    async def run(ctx: ToolContext, args: dict[str, Any]) -> Result:
        args, wrong = await check.fit(args)
        if wrong:
            raise ToolError(f"{name} did not run: {wrong}")
        await ctx.permit(CallServer(server.name, info.name, _json(args), info.read_only, info.contract))
        return await _request(server, CallTool(info.name, args), ctx, caller, content.called)

    title = f"{server.name}: {visible(info.title or info.name)}"
    about = description(server.name, info.name, info.description) or visible(info.title) or info.name
    return Tool(
        spec=ToolSpec(name, about, for_models(bytes(info.schema))),
        args=dict[str, Any],
        run=run,
        kind="read" if info.read_only else "other",
        toolset=f"mcp-{server.name}",
        effect=not info.read_only,
        parallel=True,
        title=lambda args: bounded(f"{title} {_gist(args)}".strip(), TITLE),
    )


class Utility(Struct, frozen=True, kw_only=True):
    """A tool that every server with resources or prompts gets; `make` turns its arguments into the operation."""

    name: str
    about: str
    args: Any
    schema: Raw
    make: Callable[[Any], Operation]
    parts: Parts


class NoArgs(Struct, frozen=True):
    pass


class Uri(Struct, frozen=True):
    uri: str


class Named(Struct, frozen=True):
    name: str
    arguments: dict[str, str] = {}


async def _resources(result: Any, keep: content.Keep) -> tuple[Part, ...]:
    return content.resources(result)


async def _prompts(result: Any, keep: content.Keep) -> tuple[Part, ...]:
    return content.prompts(result)


NOTHING = Raw(b'{"type":"object","properties":{}}')
RESOURCES = (
    Utility(
        name="list_resources",
        about="List the resources of the server {server}.",
        args=NoArgs,
        schema=NOTHING,
        make=lambda args: ListResources(),
        parts=_resources,
    ),
    Utility(
        name="read_resource",
        about="Read a resource of the server {server} by its URI.",
        args=Uri,
        schema=Raw(b'{"type":"object","properties":{"uri":{"type":"string"}},"required":["uri"]}'),
        make=lambda args: ReadResource(args.uri),
        parts=content.resource,
    ),
)
PROMPTS = (
    Utility(
        name="list_prompts",
        about="List the prompts of the server {server} with their arguments.",
        args=NoArgs,
        schema=NOTHING,
        make=lambda args: ListPrompts(),
        parts=_prompts,
    ),
    Utility(
        name="get_prompt",
        about="Get a prompt of the server {server}, filled in with arguments.",
        args=Named,
        schema=Raw(
            b'{"type":"object","properties":{"name":{"type":"string"},'
            b'"arguments":{"type":"object","additionalProperties":{"type":"string"}}},"required":["name"]}'
        ),
        make=lambda args: GetPrompt(args.name, args.arguments),
        parts=content.prompt,
    ),
)


def _utility(server: Connected, utility: Utility, taken: set[str], caller: FindCaller) -> Tool:
    name = tool_name(server.name, utility.name)
    if name in taken:
        name = hashed_name(server.name, utility.name)

    async def run(ctx: ToolContext, args: Any) -> Result:
        given = _json(msgspec.to_builtins(args))
        await ctx.permit(CallServer(server.name, utility.name, given, read_only=True))
        return await _request(server, utility.make(args), ctx, caller, utility.parts)

    return Tool(
        spec=ToolSpec(name, utility.about.format(server=server.name), utility.schema),
        args=utility.args,
        run=run,
        kind="read",
        toolset=f"mcp-{server.name}",
        effect=False,
        parallel=True,
        title=lambda args: f"{server.name}: {utility.name.replace('_', ' ')}",
    )


async def _request(server: Connected, op: Operation, ctx: ToolContext, caller: FindCaller, parts: Parts) -> Result:
    """Ask the server; whatever it says, an error's text too, comes from outside and is not to be trusted."""
    source = f"mcp:{server.name}"
    try:
        answer = await server.request(op, caller(ctx))
    except ServerFailed as error:
        return Result(parts=(Text(str(error)),), source=source, trust="untrusted", failed=True)
    failed = bool(getattr(answer, "is_error", False))
    return Result(parts=await parts(answer, ctx.keep), source=source, trust="untrusted", failed=failed)


def _gist(args: dict[str, Any]) -> str:
    """The first argument that is a text or a number, in one line: mostly what a call is about."""
    first = next((value for value in args.values() if isinstance(value, str | int | float)), "")
    return " ".join(visible(str(first)[:TITLE]).split())


def _json(args: Any) -> str:
    return msgspec.json.encode(args).decode()
