"""What can be typed behind a command: names that are known here, without asking anybody."""

from hermes.commands.registry import Completion, Context

SESSIONS = 50


async def sessions(ctx: Context, argument: str) -> list[Completion]:
    """The other sessions by title, the latest first."""
    rows = await ctx.app.store.sessions(limit=SESSIONS)
    return [
        Completion(text=row.title or row.id, help=f"{row.totals.messages} messages, {row.source}")
        for row in rows
        if row.id != ctx.session.id
    ]


async def models(ctx: Context, argument: str) -> list[Completion]:
    """The person's aliases, then what the providers that can be called now have in the catalog."""
    from hermes.models.listing import providers

    chooser, aliases = ctx.app.chooser, ctx.app.settings.file.model_aliases
    offered = [Completion(text=name, help=target) for name, target in aliases.items()]
    for state in providers(chooser):
        if state.access == "none":
            continue
        vendor = chooser.catalog.find(state.name)
        known = dict.fromkeys((state.default, *(vendor.models if vendor else ())))
        offered += [Completion(text=f"{state.name}:{model}", help=state.title) for model in known if model]
    return offered


async def toolsets(ctx: Context, argument: str) -> list[Completion]:
    """Toolsets and single tools, for the last word that is typed."""
    from hermes.tools.toolsets import TOOLS, TOOLSETS

    start = _last_word(argument)
    groups = [Completion(text=name, start=start, help=", ".join(TOOLSETS[name])) for name in TOOLSETS if name != "*"]
    return [*groups, *(Completion(text=name, start=start, help="a tool") for name in TOOLS if name not in TOOLSETS)]


async def tools(ctx: Context, argument: str) -> list[Completion]:
    """What to do with tools, then which."""
    if " " in argument:
        return await toolsets(ctx, argument)
    return [Completion(text="list"), Completion(text="enable "), Completion(text="disable ")]


async def commands(ctx: Context, argument: str) -> list[Completion]:
    return [Completion(text=command.name, help=command.help) for command in ctx.registry.on(ctx.surface)]


def _last_word(argument: str) -> int:
    """Where the word begins that is being typed."""
    return max(argument.rfind(" "), argument.rfind(",")) + 1
