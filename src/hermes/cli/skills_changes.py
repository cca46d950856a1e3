"""`hermes skills list-modified`, `diff` and `reset`: skills that are no longer as they came."""

import argparse
import asyncio
import difflib
import sys
from pathlib import Path

from hermes.app.hub import Hub
from hermes.cli.main import print_error
from hermes.cli.table import Column, one_line, print_table
from hermes.learning.skills.bundled import bundled_folder
from hermes.learning.skills.hub import skills_in
from hermes.learning.skills.tree import Files, hash_folder, read_files, take_away
from hermes.protocol.errors import UserError

COLUMNS = (Column("name"), Column("state", shrinks=True), Column("source", shrinks=True))
STATES = {
    "changed": "changed here, so it is off",
    "allowed": "changed here, and allowed",
    "missing": "its files are gone",
}


async def list_modified(args: argparse.Namespace, hub: Hub) -> int:
    """Installed skills whose files are others than those that were scanned, and changed copies of bundled ones."""
    rows = [(each.name, STATES[each.state], each.pin.source) for each in await hub.installed() if each.state in STATES]
    rows += await asyncio.to_thread(_changed_copies, hub)
    if rows:
        print_table(COLUMNS, rows, sys.stdout)
    else:
        print_error("no skill was changed")
    return 0


def _changed_copies(hub: Hub) -> list[tuple[str, str, str]]:
    originals, own = _bundled(hub), _own(hub)
    both = sorted((originals.keys() & own.keys()) - hub.lock.read().keys())
    changed = [name for name in both if hash_folder(own[name]) != hash_folder(originals[name])]
    return [(name, "your own copy, used instead of the bundled one", "Hermes") for name in changed]


async def reset(args: argparse.Namespace, hub: Hub) -> int:
    if args.name in hub.lock.read():
        changed = await hub.update(args.name, discard=True)
        print(f"{args.name} is as its source has it" + ("" if changed else " already"))
        return 0
    own, _ = _copies(args.name, hub)
    with hub.lock.holding():
        take_away(hub.root, own, frozenset())
    hub.lock.note("reset", args.name)
    print(f"{args.name} is as it comes with Hermes; your copy is in {hub.root / '.archive'}")
    return 0


async def diff(args: argparse.Namespace, hub: Hub) -> int:
    if args.name in hub.lock.read():
        pin = hub.pinned(args.name)
        async with hub.candidate(pin.source) as candidate:
            return _print_diff(await asyncio.to_thread(read_files, candidate.folder), hub.root / pin.place)
    own, bundled = _copies(args.name, hub)
    return _print_diff(await asyncio.to_thread(read_files, bundled), own)


def _copies(name: str, hub: Hub) -> tuple[Path, Path]:
    """A person's own copy of a skill that comes with Hermes, and the original."""
    originals, own = _bundled(hub), _own(hub)
    if name not in originals or name not in own:
        raise UserError(
            f"{name} was not installed, and is no copy of a bundled skill",
            "hermes skills list shows where skills are from",
        )
    return own[name], originals[name]


def _bundled(hub: Hub) -> dict[str, Path]:
    folder = bundled_folder(hub.root.parent)
    return {path.name: path for path in skills_in(folder).values()} if folder else {}


def _own(hub: Hub) -> dict[str, Path]:
    return {path.name: path for place, path in skills_in(hub.root).items() if not place.startswith(".")}


def _print_diff(source: Files, folder: Path) -> int:
    """How the files in a folder differ from those of their source; 1 if they do."""
    here = read_files(folder) if folder.is_dir() else {}
    differs = False
    for name in sorted(source.keys() | here.keys()):
        before, after = (files.get(name, b"").decode(errors="replace").splitlines() for files in (source, here))
        for line in difflib.unified_diff(before, after, f"source/{name}", f"here/{name}", lineterm=""):
            print(one_line(line))
            differs = True
    return 1 if differs else 0
