"""The tools of a user model: its profile of the person, search, context, questions, conclusions."""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
from msgspec import Raw, Struct

from hermes.protocol.actions import CallServer, Persist
from hermes.protocol.errors import ToolError
from hermes.protocol.models import ToolSpec
from hermes.protocol.tools import Result, Tool, ToolContext, said
from hermes.protocol.user_models import Level, UserModel

FOUND = 5


class NoArgs(Struct, frozen=True, forbid_unknown_fields=True):
    pass


class Query(Struct, frozen=True, forbid_unknown_fields=True):
    query: str


class MaybeQuery(Struct, frozen=True, forbid_unknown_fields=True):
    query: str = ""


class Asked(Struct, frozen=True, forbid_unknown_fields=True):
    query: str
    level: Level = "low"


class Concluded(Struct, frozen=True, forbid_unknown_fields=True):
    conclusion: str


Run = Callable[[UserModel, ToolContext, Any], Awaitable[str]]


async def profile(model: UserModel, ctx: ToolContext, args: NoArgs) -> str:
    """What is known for sure about the person."""
    return "\n".join(f"- {fact}" for fact in await model.profile()) or "Nothing is known yet."


async def search(model: UserModel, ctx: ToolContext, args: Query) -> str:
    """Find what the person has said about something."""
    return "\n".join(f"- {line}" for line in await model.search(_given(args.query), FOUND)) or "Nothing was found."


async def context(model: UserModel, ctx: ToolContext, args: MaybeQuery) -> str:
    """What is worth knowing about the person now, for a topic if one is given."""
    return await model.context(ctx.session, args.query.strip())


async def reasoning(model: UserModel, ctx: ToolContext, args: Asked) -> str:
    """Ask a question about the person that takes thought: what would they want, why did they."""
    return await model.chat(_given(args.query), ctx.session, args.level)


async def conclude(model: UserModel, ctx: ToolContext, args: Concluded) -> str:
    """Keep a fact about the person that follows from what they said."""
    await model.conclude(_given(args.conclusion), ctx.session)
    return "Kept."


TOOLS: dict[str, tuple[Run, type[Struct], bool]] = {
    "profile": (profile, NoArgs, True),
    "search": (search, Query, True),
    "context": (context, MaybeQuery, True),
    "reasoning": (reasoning, Asked, True),
    "conclude": (conclude, Concluded, False),
}


def user_model_tools(model: UserModel) -> list[Tool]:
    """The five tools, named after the model: honcho_profile and so on."""
    return [_tool(model, f"{model.prefix}_{name}", *parts) for name, parts in TOOLS.items()]


def _tool(model: UserModel, name: str, run: Run, args: type[Struct], reads: bool) -> Tool:
    async def call(ctx: ToolContext, given: Any) -> Result:
        if reads:
            await ctx.permit(CallServer(model.name, name, msgspec.json.encode(given).decode(), read_only=True))
        else:
            await ctx.permit(Persist(what=f"the user model {model.name}", content=given.conclusion))
        return said(await run(model, ctx, given), trust=model.trust, source=model.name)

    about = " ".join((run.__doc__ or "").split())
    return Tool(
        spec=ToolSpec(name, about, _schema(args)),
        args=args,
        run=call,
        kind="search" if reads else "other",
        toolset=model.prefix,
        effect=not reads,
    )


def _schema(args: type[Struct]) -> Raw:
    whole = msgspec.json.schema(args)
    [schema] = whole["$defs"].values()
    properties = {
        name: {key: value for key, value in field.items() if key not in ("default", "title")}
        for name, field in schema["properties"].items()
    }
    required = {"required": schema["required"]} if schema.get("required") else {}
    return Raw(msgspec.json.encode({"type": "object", "properties": properties, **required}))


def _given(text: str) -> str:
    if not text.strip():
        raise ToolError("The argument is empty.")
    return text.strip()
