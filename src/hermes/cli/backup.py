"""Write the home into one zip file, while sessions may go on: settings, memory, skills, sessions, the homes of profiles.

Keys and logins (.env, auth.json, mcp-tokens/) are left out unless --secrets is given; weights, logs and caches always are.
hermes import FILE brings it back.
"""

import argparse
import asyncio
import os
import sys
from pathlib import Path

from hermes import config
from hermes.cli.homes import manifest_of, pack, stamp
from hermes.cli.main import print_error
from hermes.cli.table import Column, print_table
from hermes.cli.words import many, moment
from hermes.protocol.errors import UserError

COLUMNS = (
    Column("backup", shrinks=True),
    Column("made"),
    Column("version"),
    Column("size", right=True),
    Column("keys"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", metavar="FILE", default="", help="where to (default: a new file here)")
    parser.add_argument(
        "-q", "--quick", action="store_true", help="only settings, memory, skills, schedules and sessions"
    )
    parser.add_argument("--secrets", action="store_true", help="keys and logins too: keep the file to yourself")
    parser.add_argument("-l", "--list", action="store_true", help="only list those in this folder and in the home")


async def run(args: argparse.Namespace) -> int:
    home = config.find_home()
    if not home.is_dir():
        raise UserError(f"there is no home {home} to back up", "hermes setup makes one")
    if args.list:
        return await asyncio.to_thread(show_list, (Path(), home / "backups"))
    target = Path(os.path.expanduser(args.output or f"hermes-backup-{stamp()}.zip"))
    if target.is_dir():
        target /= f"hermes-backup-{stamp()}.zip"
    packed = await asyncio.to_thread(pack, home, target, secrets=args.secrets, quick=args.quick)
    secrets = "with your keys and logins: keep it to yourself" if args.secrets else "without keys and logins"
    print(f"{target}: {many(packed.files, 'file')}, {packed.size / 1e6:,.1f} MB, {secrets}")
    return 0


def show_list(folders: tuple[Path, ...]) -> int:
    """Every backup in some folders, the newest first; other files are passed over. Blocks."""
    found = [(path, known) for folder in folders for path in folder.glob("*.zip") if (known := manifest_of(path))]
    if not found:
        print_error("there are no backups here", "hermes backup makes one")
        return 0
    found.sort(key=lambda one: one[1].made, reverse=True)
    rows = [
        (str(path), moment(known.made), known.version, f"{path.stat().st_size / 1e6:,.1f} MB", "yes" * known.secrets)
        for path, known in found
    ]
    print_table(COLUMNS, rows, sys.stdout)
    return 0
