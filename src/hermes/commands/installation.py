"""Commands about this Hermes: its version, its home, its settings read anew."""

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

import hermes
from hermes.commands.registry import TERMINAL, Command, Context, Outcome
from hermes.config import Settings
from hermes.protocol.ops import Configure


async def version(ctx: Context, argument: str) -> Outcome:
    return Outcome(reply=f"Hermes {hermes.__version__}")


async def profile(ctx: Context, argument: str) -> Outcome:
    home = ctx.app.settings.home
    name = home.name if home.parent.name == "profiles" else "default"
    lines = (
        f"- profile: {name}",
        f"- home: `{home}`",
        f"- session: `{ctx.session.id}`, from {ctx.session.surface}",
    )
    return Outcome(reply="\n".join(lines))


async def reload(ctx: Context, argument: str) -> Outcome:
    before = ctx.app.settings
    await ctx.app.reload()
    after = ctx.app.settings
    variables = _changed(before.environ, after.environ)
    changed = [*variables, *_changed(_flat(before), _flat(after))]
    if not changed:
        return Outcome(reply="The settings are as they were. `/reload-mcp` is for MCP servers.")
    reply = f"Read anew: {', '.join(f'`{name}`' for name in changed)}. Sessions that are opened from now on use it all."
    if not variables:
        return Outcome(reply=reply)
    # A key is chosen when a model is: the same model again has the new one.
    same = Configure(model=ctx.session.model.name)
    return Outcome(reply=f"{reply} This one has its model with the new keys.", ops=(same,))


def _changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[str]:
    names = sorted(before.keys() | after.keys())
    return [name for name in names if before.get(name) != after.get(name)]


def _flat(settings: Settings) -> dict[str, Any]:
    return dict(_leaves(msgspec.to_builtins(settings.file)))


def _leaves(tree: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in tree.items():
        if isinstance(value, dict):
            yield from _leaves(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


VERSION = Command(name="version", aliases=("v",), help="show the version of Hermes", run=version)
PROFILE = Command(name="profile", aliases=("whoami",), help="show the profile, its home and this session", run=profile)
RELOAD = Command(name="reload", help="read .env and config.yaml anew", run=reload, surfaces=TERMINAL)
