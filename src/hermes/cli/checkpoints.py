"""Checkpoints: what folders looked like before Hermes changed them. Without an action: what is kept, and how much.

In a chat, /rollback goes back to one.
"""

import argparse
import os
import sys
import time
from pathlib import Path

from hermes import config
from hermes.cli.ask import confirm
from hermes.cli.main import print_error
from hermes.cli.table import Column, print_table
from hermes.cli.words import ago, many, moment
from hermes.config import Settings
from hermes.protocol.errors import UserError
from hermes.safety.checkpoints import Checkpoints
from hermes.safety.inventory import Inventory
from hermes.safety.snapshots import limits_of

LISTED = (Column("n", right=True), Column("taken"), Column("why", shrinks=True), Column("turn"))
FOLDERS = (Column("folder", shrinks=True), Column("checkpoints", right=True), Column("oldest"), Column("newest"))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(do=status)
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    listed = actions.add_parser("list", help="the checkpoints of a folder, the newest first")
    listed.add_argument("folder", metavar="FOLDER", nargs="?", default=".", help="default: this one")
    listed.set_defaults(do=list_checkpoints)
    actions.add_parser("status", help="which folders have some, and how much they take up").set_defaults(do=status)
    pruned = actions.add_parser("prune", help="throw away what is older or more than the settings allow")
    pruned.set_defaults(do=prune)
    cleared = actions.add_parser("clear", help="throw away every checkpoint of every folder")
    cleared.add_argument("-y", "--yes", action="store_true", help="do not ask")
    cleared.set_defaults(do=clear)


async def run(args: argparse.Namespace) -> int:
    return await args.do(args, config.load())


async def list_checkpoints(args: argparse.Namespace, settings: Settings) -> int:
    folder = Path(os.path.expanduser(args.folder))
    if not folder.is_dir():
        raise UserError(f"the folder {folder} is not there", "name one that is")
    search_path = settings.environ.get("PATH", os.defpath)
    kept = Checkpoints(str(settings.home), settings.environ.get("HOME", ""), search_path)
    found = await kept.list(str(folder)) if not _inventory(settings).is_empty else ()
    if not found:
        print_error(f"there are no checkpoints of {folder.resolve()}", "Hermes takes one before it changes something")
    rows = [(str(each.number), _when(each.at), each.why, each.turn) for each in found]
    print_table(LISTED, rows, sys.stdout)
    return 0


async def status(args: argparse.Namespace, settings: Settings) -> int:
    inventory = _inventory(settings)
    folders = await inventory.folders()
    if not folders:
        print_error("there are no checkpoints yet", "Hermes takes one before it changes something")
        return 0
    print_table(
        FOLDERS,
        [(each.folder, str(each.count), _when(each.oldest), _when(each.newest)) for each in folders],
        sys.stdout,
    )
    limits = settings.file.checkpoints
    used, days = await inventory.size() / (1 << 20), limits.retention_days
    on = "" if limits.enabled else "; none are taken, checkpoints.enabled is false"
    print(f"{used:.1f} of {limits.max_total_size_mb} MB, kept for {many(days, 'day')}{on}", file=sys.stderr)
    return 0


async def prune(args: argparse.Namespace, settings: Settings) -> int:
    print(f"{many(await _inventory(settings).prune(), 'checkpoint')} thrown away")
    return 0


async def clear(args: argparse.Namespace, settings: Settings) -> int:
    inventory = _inventory(settings)
    folders = await inventory.folders()
    if not folders:
        print_error("there are no checkpoints")
        return 0
    what = f"{many(sum(each.count for each in folders), 'checkpoint')} of {many(len(folders), 'folder')}"
    if not (args.yes or await confirm(f"Throw away {what}? Nothing can be rolled back then.")):
        print_error("nothing was thrown away")
        return 1
    print(f"{many(await inventory.clear(), 'checkpoint')} thrown away")
    return 0


def _inventory(settings: Settings) -> Inventory:
    search_path = settings.environ.get("PATH", os.defpath)
    return Inventory(os.path.realpath(settings.home), search_path, limits_of(settings.file.checkpoints))


def _when(at: float) -> str:
    return ago(at, time.time()) if sys.stdout.isatty() else moment(at)
