"""`hermes skills config`: which skills sessions see, switched by name or in a list."""

import argparse
import asyncio
import sys
from pathlib import Path

from hermes import config
from hermes.app.hub import Hub
from hermes.cli.words import many
from hermes.protocol.errors import UserError

KEY = "skills.disabled"


async def configure(args: argparse.Namespace, hub: Hub) -> int:
    await hub.shelf.refresh()
    names = sorted(hub.shelf.found)
    path = hub.root.parent / "config.yaml"
    off = set(config.load().file.skills.disabled)
    if args.name:
        if args.name not in names and args.name not in off:
            raise UserError(f"there is no skill {args.name!r}", "hermes skills list shows them")
        changed = off - {args.name} if args.state == "on" else off | {args.name}
    elif sys.stdin.isatty() and sys.stderr.isatty():
        changed = await _switched(names, off)
    else:
        raise UserError("there is no terminal to choose in", "hermes skills config NAME on|off")
    if changed != off:
        await asyncio.to_thread(_keep, path, sorted(changed))
    print(f"{len(set(names) - changed)} of {many(len(names), 'skill')} on; sessions that begin from now on see them")
    return 0


async def _switched(names: list[str], off: set[str]) -> set[str]:
    """What is off after the person has switched some; each choice switches one, until the list is left."""
    from hermes.cli.picker import Option, pick

    off, at = set(off), 0
    while True:
        lines = [Option(f"[{' ' if name in off else 'x'}] {name}") for name in names]
        chosen = await pick("skills to switch, Escape when done", lines, at)
        if chosen is None:
            return off
        off ^= {names[chosen]}
        at = chosen


def _keep(path: Path, off: list[str]) -> None:
    if off:
        config.set_value(path, KEY, off)
    else:
        config.unset_value(path, KEY)
