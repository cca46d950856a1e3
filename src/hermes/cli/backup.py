"""Write the home into one zip file, while sessions may go on: settings, memory, skills, sessions, the homes of profiles.

Keys and logins (.env, auth.json, mcp-tokens/) are left out unless --secrets is given; weights, logs and caches always are.
hermes import FILE brings it back.
"""

import argparse
import asyncio
import os
from pathlib import Path

from hermes import config
from hermes.cli.homes import pack, stamp
from hermes.cli.words import many
from hermes.protocol.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-o", "--output", metavar="FILE", default="", help="where to (default: a new file here)")
    parser.add_argument(
        "-q", "--quick", action="store_true", help="only settings, memory, skills, schedules and sessions"
    )
    parser.add_argument("--secrets", action="store_true", help="keys and logins too: keep the file to yourself")


async def run(args: argparse.Namespace) -> int:
    home = config.find_home()
    if not home.is_dir():
        raise UserError(f"there is no home {home} to back up", "hermes setup makes one")
    target = Path(os.path.expanduser(args.output or f"hermes-backup-{stamp()}.zip"))
    if target.is_dir():
        target /= f"hermes-backup-{stamp()}.zip"
    packed = await asyncio.to_thread(pack, home, target, secrets=args.secrets, quick=args.quick)
    secrets = "with your keys and logins: keep it to yourself" if args.secrets else "without keys and logins"
    print(f"{target}: {many(packed.files, 'file')}, {packed.size / 1e6:,.1f} MB, {secrets}")
    return 0
