"""What is remembered from session to session. Without an action: how much there is.

hermes memory why 3
hermes memory undo
"""

import argparse
import asyncio
import sys
import time

from hermes import config
from hermes.app import App
from hermes.cli.ask import confirm
from hermes.cli.main import print_error
from hermes.cli.open import open_app
from hermes.cli.table import Column, one_line, print_table
from hermes.cli.words import ago, moment
from hermes.commands import remembered
from hermes.learning.memory import text
from hermes.protocol.targets import TARGETS, Target

ENTRIES = (Column("id", right=True), Column("target"), Column("entry", shrinks=True), Column("changed"))
WAITING = (Column("id", right=True), Column("target"), Column("entry", shrinks=True), Column("waits for"))
CHANGES = (Column("when"), Column("by"), Column("did"), Column("id", right=True), Column("entry", shrinks=True))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(do=status)
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    for name, do, about in (
        ("status", status, "how much is remembered, and what waits"),
        ("show", show, "every entry, with its number"),
        ("archive", archive, "entries that made room for others"),
        ("pending", show_pending, "what waits for a second sighting, or for you"),
        ("off", off, "remember nothing and use nothing of it from now on"),
        ("on", on, "remember again"),
    ):
        actions.add_parser(name, help=about).set_defaults(do=do)
    for name, do, about in (
        ("why", why, "where an entry comes from"),
        ("restore", restore, "bring an entry back from the archive"),
    ):
        one = actions.add_parser(name, help=about)
        one.add_argument("id", metavar="ID", help="its number")
        one.set_defaults(do=do)
    for name, do, about in (
        ("approve", approve, "keep what waits"),
        ("reject", reject, "drop what waits"),
    ):
        chosen = actions.add_parser(name, help=about)
        chosen.add_argument("id", metavar="ID", help="its number, or all")
        chosen.set_defaults(do=do)
    for name, do, about in (
        ("history", history, "what has changed, of all or of one entry"),
        ("undo", undo, "take the last change back, or the last of one entry"),
    ):
        any_one = actions.add_parser(name, help=about)
        any_one.add_argument("id", metavar="ID", nargs="?", default="0", help="its number")
        any_one.set_defaults(do=do)
    emptied = actions.add_parser("reset", help="retire every entry; undo brings them back")
    emptied.add_argument("--target", choices=("all", *TARGETS), default="all", help="of one only (default: all)")
    emptied.add_argument("-y", "--yes", action="store_true", help="do not ask")
    emptied.set_defaults(do=reset)
    provider = actions.add_parser("setup", help="choose the user model that is used besides")
    provider.add_argument("provider", metavar="NAME", nargs="?", default="", help="local, honcho, or nothing for none")
    provider.set_defaults(do=setup)


async def run(args: argparse.Namespace) -> int:
    async with open_app(args) as app:
        return await args.do(app, args)


async def status(app: App, args: argparse.Namespace) -> int:
    kept = app.settings.file.memory
    entries = await app.memory.notebook.sync()
    for target in TARGETS:
        used, limit = entries.used(target)
        state = "" if target in kept.targets else ", switched off"
        print(
            f"{text.NAMES[target]}: {_counted(len(entries.active(target)))}, "
            f"{round(100 * used / limit)}%, {used:,} of {limit:,} characters{state}"
        )
    if waiting := entries.pending():
        print(f"{len(waiting)} waiting: hermes memory pending")
    nudge = f"every {kept.nudge_interval} turns" if kept.nudge_interval else "only at the end of a session"
    print(f"reviews: {nudge if kept.reviews else 'off'}; user model: {kept.provider or 'none'}")
    return 0


async def show(app: App, args: argparse.Namespace) -> int:
    entries = await app.memory.notebook.sync()
    rows = [row for target in TARGETS for row in entries.active(target)]
    if not rows:
        print_error("nothing is remembered yet")
    print_table(ENTRIES, [(str(r.id), r.target, r.content, _when(r.updated)) for r in rows], sys.stdout)
    return 0


async def archive(app: App, args: argparse.Namespace) -> int:
    rows = await app.memory.notebook.store.entries("archived")
    if not rows:
        print_error("the archive is empty")
    print_table(ENTRIES, [(str(r.id), r.target, r.content, _when(r.updated)) for r in rows], sys.stdout)
    return 0


async def show_pending(app: App, args: argparse.Namespace) -> int:
    waiting = await remembered.pending(app.memory.notebook)
    if not waiting:
        print_error("nothing waits")
    rows = [(str(r.id), r.target, what, "you" if r.held else "you or a second sighting") for r, what in waiting]
    print_table(WAITING, rows, sys.stdout)
    return 0


async def approve(app: App, args: argparse.Namespace) -> int:
    print(f"kept {len(await remembered.decide(app.memory.notebook, args.id, approve=True))}")
    return 0


async def reject(app: App, args: argparse.Namespace) -> int:
    print(f"dropped {len(await remembered.decide(app.memory.notebook, args.id, approve=False))}")
    return 0


async def why(app: App, args: argparse.Namespace) -> int:
    for line in await remembered.why(app, remembered.number(args.id)):
        print(one_line(line))
    return 0


async def restore(app: App, args: argparse.Namespace) -> int:
    print(f"restored: {one_line((await remembered.restore(app.memory.notebook, remembered.number(args.id))).content)}")
    return 0


async def history(app: App, args: argparse.Namespace) -> int:
    changes = await app.memory.notebook.store.changes(remembered.number(args.id))
    if not changes:
        print_error("nothing has changed yet")
    rows = [
        (
            _when(each.at),
            each.by,
            each.verb,
            str(each.after.id),
            each.after.content or f"forget {each.after.supersedes}",
        )
        for each in changes
    ]
    print_table(CHANGES, rows, sys.stdout)
    return 0


async def undo(app: App, args: argparse.Namespace) -> int:
    for change in await remembered.undo(app.memory.notebook, remembered.number(args.id)):
        print(f"taken back: {one_line(remembered.told(change))}")
    return 0


async def reset(app: App, args: argparse.Namespace) -> int:
    targets: tuple[Target, ...] = TARGETS if args.target == "all" else (args.target,)
    rows = [row for row in await app.memory.notebook.store.entries("active") if row.target in targets]
    if not rows:
        print_error("nothing is remembered")
        return 0
    if not (args.yes or await confirm(f"Forget {_counted(len(rows))}? hermes memory undo brings them back.")):
        print_error("nothing was forgotten")
        return 1
    async with app.memory.notebook.change("person") as draft:
        for target in targets:
            for row in draft.entries.active(target):
                draft.entries.retire(row)
    print(f"forgot {_counted(len(rows))}; hermes memory undo brings them back")
    return 0


async def off(app: App, args: argparse.Namespace) -> int:
    return await _switch(app, False)


async def on(app: App, args: argparse.Namespace) -> int:
    return await _switch(app, True)


async def _switch(app: App, value: bool) -> int:
    for key in ("memory_enabled", "user_profile_enabled"):
        await asyncio.to_thread(config.set_value, app.settings.config_path, f"memory.{key}", value)
    print("memory is on" if value else "memory is off; what is remembered stays: hermes memory on")
    return 0


async def setup(app: App, args: argparse.Namespace) -> int:
    from hermes.app.user_model import PROVIDERS, provider_named

    if args.provider:
        provider_named(args.provider)
    await asyncio.to_thread(config.set_value, app.settings.config_path, "memory.provider", args.provider)
    print(f"user model: {args.provider or 'none'} (there is {', '.join(PROVIDERS)})")
    return 0


def _when(at: float) -> str:
    return ago(at, time.time()) if sys.stdout.isatty() else moment(at)


def _counted(entries: int) -> str:
    return "1 entry" if entries == 1 else f"{entries:,} entries"
