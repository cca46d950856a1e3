"""The Honcho user model: whether it can be reached, and what it knows."""

import argparse

from hermes.app import App
from hermes.app.user_model import open_honcho, workspace_of
from hermes.cli.open import open_app
from hermes.cli.table import one_line


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(do=status)
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    actions.add_parser("status", help="whether it is used and can be reached").set_defaults(do=status)
    asked = actions.add_parser("ask", help="ask it about yourself")
    asked.add_argument("query", metavar="QUESTION")
    asked.set_defaults(do=ask)


async def run(args: argparse.Namespace) -> int:
    async with open_app(args) as app:
        return await args.do(app, args)


async def status(app: App, args: argparse.Namespace) -> int:
    file = app.settings.file
    used = "used" if file.memory.provider == "honcho" else "not used (hermes memory setup honcho)"
    print(f"honcho: {used}")
    print(
        f"server: {file.honcho.base_url or 'the public one'}, workspace {workspace_of(app.settings)}, peer {file.honcho.peer}"
    )
    print(f"recall: {file.honcho.recall}, asked every {file.honcho.cadence} turns")
    model = open_honcho(app)
    try:
        known = await model.profile()
    finally:
        await model.close()
    print(f"reached; it knows {len(known)} facts about you")
    for fact in known:
        print(f"- {one_line(fact)}")
    return 0


async def ask(app: App, args: argparse.Namespace) -> int:
    model = open_honcho(app)
    try:
        print(await model.chat(args.query))
    finally:
        await model.close()
    return 0
