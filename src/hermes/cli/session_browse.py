"""`hermes sessions browse`: choose a session from a list and go on with it."""

import argparse
import sys
import time
from typing import TYPE_CHECKING

from hermes.cli.main import print_error
from hermes.cli.open import open_app
from hermes.cli.table import screen_width
from hermes.cli.words import ago, many
from hermes.commands.width import cut
from hermes.protocol.errors import UserError
from hermes.protocol.store import SessionRow

if TYPE_CHECKING:
    from hermes.cli.picker import Option

LISTED = 500
OWN = {"do", "limit", "source", "json"}
"""Flags of `sessions` that mean nothing, or something else, to a chat."""


def add_arguments(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    browsed = actions.add_parser("browse", help="choose one from a list, and go on with it")
    browsed.add_argument("--source", metavar="TAG", default=argparse.SUPPRESS, help="only those of cli, cron, …")
    browsed.set_defaults(do=browse)


async def browse(args: argparse.Namespace) -> int:
    """Let the person choose; the chosen session is opened as --resume opens it."""
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UserError(
            "there is no terminal to choose in", "hermes sessions list shows them, hermes --resume SESSION opens one"
        )
    async with open_app(args) as app:
        rows = await app.store.sessions(source=vars(args).get("source", ""), limit=LISTED)
    if not rows:
        print_error("there are no sessions yet", "hermes starts one")
        return 0
    from hermes.cli.picker import pick

    chosen = await pick("session", options(rows, time.time(), screen_width(sys.stderr)))
    if chosen is None:
        print_error("nothing was chosen")
        return 1
    from hermes.cli import chat

    flags = {name: value for name, value in vars(args).items() if name not in OWN}
    flags |= {"resume": rows[chosen].id, "query": None, "image": [], "quiet": False}
    return await chat.run(argparse.Namespace(**flags))


def options(rows: list[SessionRow], now: float, width: int) -> "list[Option]":
    """The lines of the list, and with each the id, the model and the folder of its session to find it by."""
    from hermes.cli.picker import Option

    made: list[Option] = []
    for row in rows:
        about = f"{ago(row.active, now):<8} {many(row.totals.messages, 'message'):<12}"
        title = cut(row.title or "no title", max(20, width - len(about) - 4))
        made.append(Option(f"{about} {title}", f"{row.id} {row.model} {row.cwd} {row.source} {row.title}"))
    return made
