"""Look after the skills that Hermes wrote: try them again, archive what did not help, pin what should stay.

It works by itself once a week when nobody is at work. Nothing is ever deleted: what is archived can be restored.
"""

import argparse

from hermes.cli.open import open_app
from hermes.commands.skills import TENDING, tend

NAMED = ("pin", "unpin", "archive", "restore")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(action="status", name="")
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    for action, told in TENDING.items():
        one = actions.add_parser(action, help=told)
        one.set_defaults(action=action, name="")
        if action in NAMED:
            one.add_argument("name", metavar="NAME", help="a skill")


async def run(args: argparse.Namespace) -> int:
    async with open_app(args) as app:
        print(await tend(app, f"{args.action} {args.name}".strip()))
    return 0
