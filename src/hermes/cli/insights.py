"""What Hermes was used for: sessions, tokens, cost, models, platforms, tools and hours, with plots."""

import argparse
import sys

import msgspec

from hermes.cli.open import open_app
from hermes.cli.pen import Pen
from hermes.cli.table import one_line
from hermes.commands.insights import DAYS, Insights, gather, sections
from hermes.protocol.errors import UserError

WIDEST = 100


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--days", metavar="N", type=int, default=DAYS, help=f"how many, today among them (default {DAYS})"
    )
    parser.add_argument("--source", metavar="TAG", default="", help="only what came from cli, cron, telegram, …")
    parser.add_argument("--json", action="store_true", help="the numbers as JSON")


async def run(args: argparse.Namespace) -> int:
    if args.days < 1:
        raise UserError("--days must be 1 or more", f"the default is {DAYS}")
    async with open_app(args) as app:
        found = await gather(app.store, args.days, args.source)
        if args.json:
            print(msgspec.json.encode(found).decode())
        else:
            _print(found, Pen(sys.stdout, app.settings.environ))
    return 0


def _print(found: Insights, pen: Pen) -> None:
    for index, (head, lines) in enumerate(sections(found, min(pen.width, WIDEST))):
        if index:
            pen.line()
        pen.line(pen.paint("bold", one_line(head)))
        for line in lines:
            pen.line(one_line(line))
