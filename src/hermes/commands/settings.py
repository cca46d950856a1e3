"""Commands about how a session works: its model, its tools, its questions, the settings behind them."""

import asyncio

from hermes.app import Wish
from hermes.app.world import LocalWorld
from hermes.commands import offers
from hermes.commands.lasting import how_to_keep, without_flags
from hermes.commands.registry import TERMINAL, Command, Context, Outcome
from hermes.protocol.errors import UserError
from hermes.protocol.ops import Configure
from hermes.protocol.tools import Tool


async def model(ctx: Context, argument: str) -> Outcome:
    session = ctx.session
    wanted, lasting = without_flags(argument)
    wanted = _of_provider(wanted)
    if not wanted:
        reply = f"Model: `{session.model.name}`, window {session.model.window:,} tokens. `/model NAME` changes it here."
        return Outcome(reply=reply)
    if session.options.model_named is None:
        raise UserError("the model of this session is fixed", "start another session")
    name = session.options.model_named(wanted).name
    said = await _keep_model(ctx, wanted) if lasting else how_to_keep(f"/model {wanted}")
    return Outcome(ops=(Configure(model=name),), reply=f"Model: `{name}` from the next step on. {said}")


def _of_provider(wanted: str) -> str:
    """What is wanted as provider:model; the provider may stand behind --provider."""
    match wanted.split():
        case [name, "--provider", provider] | ["--provider", provider, name]:
            return f"{provider}:{name}"
        case ["--provider", provider]:
            return provider
        case [] | [_] if not wanted.startswith("-"):
            return wanted
        case _:
            raise UserError(f"{wanted!r} is not the name of a model", "/model PROVIDER:NAME [--global]")


async def _keep_model(ctx: Context, name: str) -> str:
    from hermes.app.default_model import keep_model

    await asyncio.to_thread(keep_model, ctx.app.settings, ctx.app.choice(Wish(model=name)))
    await ctx.app.reload()
    return "It is kept for every new session."


async def yolo(ctx: Context, argument: str) -> Outcome:
    wanted = {"": not asks_nobody(ctx), "on": True, "off": False}.get(argument.lower())
    if wanted is None:
        raise UserError(f"{argument!r} is neither on nor off", "/yolo, /yolo on or /yolo off")
    if wanted:
        reply = (
            "Nothing asks any more in this session; what is forbidden stays so. `/yolo off` brings the questions back."
        )
        return Outcome(ops=(Configure(approvals="off"),), reply=reply)
    return Outcome(ops=(Configure(approvals="manual"),), reply="Dangerous things ask again.")


async def tools(ctx: Context, argument: str) -> Outcome:
    action, *names = argument.replace(",", " ").split() or ["list"]
    if action not in ("list", "enable", "disable"):
        raise UserError(f"tools can be listed, enabled and disabled, not {action!r}", "/tools enable NAME …")
    if action == "list":
        return Outcome(reply=_listed(ctx))
    if not names:
        raise UserError(f"which tools should be {action}d?", f"/tools {action} NAME …, a tool or a toolset")
    return _switched(ctx, tuple(names), action == "enable")


def _switched(ctx: Context, names: tuple[str, ...], on: bool) -> Outcome:
    """The session's own tools with some more, or without some; those of MCP servers are left to their settings."""
    from hermes.tools.toolsets import tool_names

    named, own = tool_names(names), tuple(ctx.session.tools.own)
    changed = tool_names((*own, *named)) if on else tuple(name for name in own if name not in named)
    if set(changed) == set(own):
        return Outcome(reply=f"Nothing to change: {', '.join(named)} {'was' if on else 'was not'} there already.")
    if not changed:
        raise UserError("that would leave no tool at all", "/toolsets safe has the harmless ones")
    return Outcome(ops=(Configure(tools=changed),), reply=f"Tools from the next step on: {', '.join(changed)}")


def _listed(ctx: Context) -> str:
    groups: dict[str, list[Tool]] = {}
    for tool in ctx.session.tools.told:
        groups.setdefault(tool.toolset or "other", []).append(tool)
    lines: list[str] = []
    for group, members in groups.items():
        lines += [*([""] if lines else []), f"**{group}**"]
        lines += [f"- `{tool.spec.name}`: {_first_sentence(tool.spec.description)}" for tool in members]
    return "\n".join(lines) or "This session has no tools."


async def toolsets(ctx: Context, argument: str) -> Outcome:
    from hermes.tools.toolsets import TOOLSETS, tool_names

    if not argument:
        used = set(ctx.session.tools)
        lines = [
            f"- `{name}`{' (in use)' if used.issuperset(members) else ''}: {', '.join(members)}"
            for name, members in TOOLSETS.items()
            if name != "*"
        ]
        return Outcome(reply="\n".join([*lines, "", "`/toolsets NAME …` uses these and no others in this session."]))
    chosen = tuple(argument.replace(",", " ").split())
    names = tool_names(chosen)
    return Outcome(ops=(Configure(tools=chosen),), reply=f"Tools from the next step on: {', '.join(names)}")


async def config(ctx: Context, argument: str) -> Outcome:
    settings, file = ctx.app.settings, ctx.app.settings.file
    model = (
        ":".join(filter(None, (settings.model.provider, settings.model.name))) or "chosen by the keys that are there"
    )
    rows = (
        ("model", model),
        ("toolsets", ", ".join(file.toolsets)),
        ("approvals.mode", file.approvals.mode),
        ("agent.max_turns", file.agent.max_turns),
        ("terminal.backend", file.terminal.backend),
        ("terminal.cwd", file.terminal.cwd),
        ("checkpoints.enabled", str(file.checkpoints.enabled).lower()),
        ("display.streaming", str(file.display.streaming).lower()),
    )
    lines = [f"Settings: `{settings.config_path}`", *(f"- `{key}`: {value}" for key, value in rows)]
    return Outcome(reply="\n".join([*lines, "", "`hermes config set KEY VALUE` changes one for new sessions."]))


def asks_nobody(ctx: Context) -> bool:
    """Whether the session does what would ask without asking."""
    world = ctx.session.world
    return isinstance(world, LocalWorld) and (world.gate.policy.yolo or world.gate.policy.mode == "off")


def _first_sentence(text: str) -> str:
    line = " ".join(text.split())
    return line.split(". ")[0].rstrip(".")


MODEL = Command(
    name="model",
    usage="[NAME] [--global]",
    help="show the model, or go on with another one",
    run=model,
    complete=offers.models,
)
YOLO = Command(name="yolo", usage="[on|off]", help="stop or go on asking before dangerous things", run=yolo)
TOOLS = Command(
    name="tools",
    usage="[list | enable NAME … | disable NAME …]",
    help="list what the model can do here, or change it",
    run=tools,
    surfaces=TERMINAL,
    complete=offers.tools,
)
TOOLSETS = Command(
    name="toolsets",
    usage="[NAME …]",
    help="list toolsets, or use only these",
    run=toolsets,
    surfaces=TERMINAL,
    complete=offers.toolsets,
)
CONFIG = Command(name="config", help="show where the settings are and the main ones", run=config, surfaces=TERMINAL)
