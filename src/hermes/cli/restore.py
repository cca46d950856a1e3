"""Bring back what `hermes backup` wrote. What the backup does not hold stays as it is.

With -f a home that has something is replaced; it is backed up first, into backups/ of the home.
"""

import argparse
import asyncio
import os
from pathlib import Path

from hermes import config
from hermes.cli.homes import unpack
from hermes.cli.words import many, moment
from hermes.protocol.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a zip file of hermes backup")
    parser.add_argument("-f", "--force", action="store_true", help="also over a home that has something")


async def run(args: argparse.Namespace) -> int:
    archive, home = Path(os.path.expanduser(args.file)), config.find_home()
    if not archive.is_file():
        raise UserError(f"there is no file {archive}", "hermes import FILE")
    manifest, files = await asyncio.to_thread(unpack, archive, home, force=args.force)
    print(f"{home} has {many(files, 'file')} of {moment(manifest.made)} (Hermes {manifest.version}) again")
    if not manifest.secrets:
        print("keys and logins were not in it: hermes setup model, or hermes config set NAME")
    return 0
