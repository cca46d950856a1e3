"""Commands about how a session works: its model, its tools, its questions, the settings behind them."""

from hermes.app.world import LocalWorld
from hermes.commands.registry import TERMINAL, Command, Context, Outcome
from hermes.protocol.errors import UserError
from hermes.protocol.ops import Configure
from hermes.protocol.tools import Tool


async def model(ctx: Context, argument: str) -> Outcome:
    session = ctx.session
    if not argument:
        reply = f"Model: `{session.model.name}`, window {session.model.window:,} tokens. `/model NAME` changes it here."
        return Outcome(reply=reply)
    if session.options.model_named is None:
        raise UserError("the model of this session is fixed", "start another session")
    name = session.options.model_named(argument).name
    lasting = f"For every new session: `hermes config set model {name}`"
    return Outcome(ops=(Configure(model=name),), reply=f"Model: `{name}` from the next step on. {lasting}")


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
    groups: dict[str, list[Tool]] = {}
    for tool in ctx.session.tools.told:
        groups.setdefault(tool.toolset or "other", []).append(tool)
    lines: list[str] = []
    for group, members in groups.items():
        lines.append(f"**{group}**")
        lines += [f"- `{tool.spec.name}`: {_first_sentence(tool.spec.description)}" for tool in members]
    return Outcome(reply="\n".join(lines) or "This session has no tools.")


async def toolsets(ctx: Context, argument: str) -> Outcome:
    from hermes.tools.toolsets import TOOLSETS, tool_names

    if not argument:
        used = set(ctx.session.tools)
        lines = [
            f"- `{name}`{' (in use)' if used.issuperset(members) else ''}: {', '.join(members)}"
            for name, members in TOOLSETS.items()
            if name != "*"
        ]
        return Outcome(reply="\n".join([*lines, "`/toolsets NAME …` uses these and no others in this session."]))
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
    return Outcome(reply="\n".join([*lines, "`hermes config set KEY VALUE` changes one for new sessions."]))


def asks_nobody(ctx: Context) -> bool:
    """Whether the session does what would ask without asking."""
    world = ctx.session.world
    return isinstance(world, LocalWorld) and (world.gate.policy.yolo or world.gate.policy.mode == "off")


def _first_sentence(text: str) -> str:
    line = " ".join(text.split())
    return line.split(". ")[0].rstrip(".")


MODEL = Command(name="model", usage="[NAME]", help="show the model, or go on with another one", run=model)
YOLO = Command(name="yolo", usage="[on|off]", help="stop or go on asking before dangerous things", run=yolo)
TOOLS = Command(name="tools", help="list what the model can do here", run=tools, surfaces=TERMINAL)
TOOLSETS = Command(
    name="toolsets", usage="[NAME …]", help="list toolsets, or use only these", run=toolsets, surfaces=TERMINAL
)
CONFIG = Command(name="config", help="show where the settings are and the main ones", run=config, surfaces=TERMINAL)
