"""Log in to a provider, Nous Portal if none is named. The command for keys and logins of every kind is hermes auth."""

import argparse

from hermes.cli import auth
from hermes.cli.main import print_error
from hermes.cli.open import open_app

PORTAL = "nous"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("provider", metavar="PROVIDER", nargs="?", default=PORTAL, help="default: Nous Portal")


async def run(args: argparse.Namespace) -> int:
    print_error(f"this is short for: hermes auth add {args.provider}")
    given = argparse.Namespace(**vars(args), key=None, type=None, label="")
    async with open_app(args) as app:
        return await auth.add(app, given)
