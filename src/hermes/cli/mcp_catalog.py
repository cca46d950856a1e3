"""`hermes mcp catalog`, `install` and `picker`: known servers by name."""

import argparse
import sys

from hermes.cli.main import print_error
from hermes.cli.mcp_edit import add
from hermes.cli.mcp_presets import PRESETS, known
from hermes.cli.table import Column, print_table
from hermes.config import Settings
from hermes.protocol.errors import UserError

COLUMNS = (Column("name"), Column("what it is for", shrinks=True), Column("needs"), Column("command", shrinks=True))


def add_parsers(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    actions.add_parser("catalog", help="known servers, and the command that adds each").set_defaults(do=show_catalog)
    installed = actions.add_parser("install", help="add a known server by its name")
    installed.add_argument("name", metavar="NAME", help=", ".join(PRESETS))
    installed.add_argument("--as", metavar="NAME", default="", dest="called", help="what it is called here")
    installed.set_defaults(do=install)
    actions.add_parser("picker", help="choose a known server from a list, and add it").set_defaults(do=choose)


async def show_catalog(settings: Settings, args: argparse.Namespace) -> int:
    rows = [
        (name, one.about, one.needs, "added" if name in settings.file.mcp_servers else f"hermes mcp install {name}")
        for name, one in PRESETS.items()
    ]
    print_table(COLUMNS, rows, sys.stdout)
    return 0


async def install(settings: Settings, args: argparse.Namespace) -> int:
    known(args.name)
    return await _add(settings, args.name, args.called or args.name)


async def choose(settings: Settings, args: argparse.Namespace) -> int:
    if not (sys.stdin.isatty() and sys.stderr.isatty()):
        raise UserError("there is no terminal to choose in", "hermes mcp catalog, then hermes mcp install NAME")
    from hermes.cli.picker import Option, pick

    names = [name for name in PRESETS if name not in settings.file.mcp_servers]
    lines = [Option(f"{name:<20} {PRESETS[name].about} (needs {PRESETS[name].needs})") for name in names]
    chosen = await pick("server", lines)
    if chosen is None:
        print_error("nothing was chosen")
        return 1
    return await _add(settings, names[chosen], names[chosen])


async def _add(settings: Settings, name: str, called: str) -> int:
    """As `hermes mcp add CALLED --preset NAME` does."""
    flags = {"name": called, "preset": name, "url": "", "command": "", "auth": "", "transport": ""}
    return await add(settings, argparse.Namespace(**flags, env=[], header=[], args=[]))
