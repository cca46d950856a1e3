"""Forget a login; the provider must be named only if you are logged in to several. Keys stay: hermes auth remove."""

import argparse

from hermes.cli import auth
from hermes.cli.main import print_error
from hermes.cli.open import open_app
from hermes.protocol.errors import UserError


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("provider", metavar="PROVIDER", nargs="?", default="", help="default: the one that there is")


async def run(args: argparse.Namespace) -> int:
    async with open_app(args) as app:
        if not args.provider:
            logins = sorted(app.auth.read().logins)
            if not logins:
                raise UserError("you are not logged in anywhere", "hermes auth list shows the keys there are")
            if len(logins) > 1:
                raise UserError("you are logged in to several providers", f"hermes logout {' | '.join(logins)}")
            [args.provider] = logins
        print_error(f"this is short for: hermes auth logout {args.provider}")
        return await auth.log_out(app, args)
