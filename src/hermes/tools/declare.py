"""A tool from an async function: its name, docstring and signature are what the model is told."""

from collections.abc import Awaitable, Callable
from functools import cache
from typing import Any, TypedDict, Unpack, get_type_hints

import msgspec
from msgspec import Raw, Struct

from hermes.protocol.items import Kind
from hermes.protocol.models import ToolSpec
from hermes.protocol.tools import Result, Tool, ToolContext, said

Function = Callable[..., Awaitable[Result | str]]


class More(TypedDict, total=False):
    """Fields of Tool that have defaults."""

    effect: bool
    parallel: bool
    title: Callable[[Any], str]
    writes: Callable[[Any], tuple[str, ...] | None]
    cap: int


def tool(function: Function, *, kind: Kind, toolset: str, **more: Unpack[More]) -> Tool:
    """Declare `async def name(ctx, argument: type = default, ...)`; what is in `more` goes to the Tool as it is."""
    spec, args = _declared(getattr(function, "__func__", function))

    async def run(ctx: ToolContext, given: Struct) -> Result:
        result = await function(ctx, **{name: getattr(given, name) for name in given.__struct_fields__})
        return said(result) if isinstance(result, str) else result

    return Tool(spec=spec, args=args, run=run, kind=kind, toolset=toolset, **more)


@cache
def _declared(function: Function) -> tuple[ToolSpec, type[Struct]]:
    """What the model is told and what its arguments are decoded to: made once, however many sessions use it."""
    name = function.__name__
    types = get_type_hints(function, include_extras=True)
    # inspect.signature would add 0.3 ms to every start.
    code = function.__code__
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    positional = reversed(names[: code.co_argcount])
    defaults = dict(zip(positional, reversed(function.__defaults__ or ()), strict=False))
    defaults |= function.__kwdefaults__ or {}
    fields = [
        (field, types[field], defaults[field]) if field in defaults else (field, types[field])
        for field in names
        if field not in ("self", "ctx")
    ]
    args = msgspec.defstruct(name, fields, frozen=True, kw_only=True, forbid_unknown_fields=True)
    return ToolSpec(name, " ".join((function.__doc__ or "").split()), _schema(args)), args


def _schema(args: type[Struct]) -> Raw:
    whole = msgspec.json.schema(args)
    return Raw(msgspec.json.encode(_compact(whole, whole.pop("$defs"))))


def _compact(node: dict[str, Any], definitions: dict[str, Any]) -> dict[str, Any]:
    """The same schema in fewer tokens: references inlined, no titles, defaults, class docstrings or nulls."""
    if "$ref" in node:
        definition = definitions[node["$ref"].rpartition("/")[2]]
        node = {key: value for key, value in definition.items() if key != "description"} | node
    small: dict[str, Any] = {}
    for key, value in node.items():
        match key, value:
            case ("$ref" | "title" | "default", _) | ("required", []):
                continue
            case "properties", _:
                small[key] = {name: _compact(field, definitions) for name, field in value.items()}
            case "anyOf", _:
                choices = [_compact(choice, definitions) for choice in value if choice != {"type": "null"}]
                small |= choices[0] if len(choices) == 1 else {"anyOf": choices}
            case "enum", [str(), *_]:
                small |= {"type": "string", "enum": value}
            case _, dict():
                small[key] = _compact(value, definitions)
            case _:
                small[key] = value
    return small
