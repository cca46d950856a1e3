"""What the model can do: toolsets and single tools, for the terminal or for another surface. Without an action: list them.

hermes tools disable terminal
hermes tools enable terminal --platform telegram
"""

import argparse
import asyncio
import sys
from collections.abc import Sequence

from hermes import config
from hermes.cli.main import print_error
from hermes.cli.table import Column, print_table
from hermes.cli.words import many
from hermes.config import Settings
from hermes.protocol.errors import UserError
from hermes.tools.toolsets import TOOLS, TOOLSETS, make_tools, tool_names

COLUMNS = (Column("tool"), Column("state"), Column("about", shrinks=True))
CLI = "cli"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(do=show_list, platform=CLI)
    parser.add_argument("--summary", action="store_true", help="one line for each surface")
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    listed = actions.add_parser("list", help="every tool and whether it is on")
    listed.set_defaults(do=show_list)
    on = actions.add_parser("enable", help="switch tools or toolsets on")
    on.set_defaults(do=enable)
    off = actions.add_parser("disable", help="switch tools or toolsets off")
    off.set_defaults(do=disable)
    for action in (listed, on, off):
        action.add_argument("--platform", metavar="NAME", default=CLI, help="of this surface (default: cli)")
    for action in (on, off):
        action.add_argument("names", metavar="NAME", nargs="+", help=f"a tool, or {', '.join(TOOLSETS)}")


async def run(args: argparse.Namespace) -> int:
    settings = config.load()
    if args.summary:
        return _summary(settings)
    return await args.do(settings, args)


def chosen(settings: Settings, platform: str) -> tuple[str, ...]:
    """The toolsets of a surface; one without a list of its own has that of the terminal."""
    return settings.file.toolsets if platform == CLI else settings.file.toolsets_of(platform)


def _own(settings: Settings, names: Sequence[str]) -> list[str]:
    """Those that are not MCP servers, which `hermes mcp` switches."""
    servers = settings.file.mcp_servers
    return [name for name in names if name.removeprefix("mcp-") not in servers or name in TOOLSETS]


async def show_list(settings: Settings, args: argparse.Namespace) -> int:
    on = set(tool_names(_own(settings, chosen(settings, args.platform))))
    specs = {tool.spec.name: tool.spec for tool in make_tools([*TOOLS, *sorted(on - TOOLS.keys())], settings.file)}
    rows = [
        (name, "on" if name in on else "off", spec.description.strip().splitlines()[0] if spec.description else "")
        for name, spec in specs.items()
    ]
    rows += [
        (f"mcp-{name}", "on" if server.enabled else "off", f"hermes mcp configure {name} chooses its tools")
        for name, server in settings.file.mcp_servers.items()
    ]
    print_table(COLUMNS, rows, sys.stdout)
    return 0


def _summary(settings: Settings) -> int:
    for platform in (CLI, *settings.file.platform_toolsets):
        names = tool_names(_own(settings, chosen(settings, platform)))
        print(f"{platform}: {many(len(names), 'tool')}: {', '.join(names)}")
    return 0


async def enable(settings: Settings, args: argparse.Namespace) -> int:
    tool_names(args.names)  # names that nobody knows are an error
    minus = {f"-{name}" for name in args.names}
    now = [name for name in chosen(settings, args.platform) if name not in minus]
    have = set(tool_names(_own(settings, now)))
    now += [name for name in args.names if not set(tool_names([name])) <= have]
    return await _keep(settings, args.platform, now)


async def disable(settings: Settings, args: argparse.Namespace) -> int:
    tool_names(args.names)
    now = [name for name in chosen(settings, args.platform) if name not in args.names]
    left = set(tool_names(_own(settings, now)))
    now += [f"-{name}" for name in args.names if left & set(tool_names([name]))]
    return await _keep(settings, args.platform, now)


async def _keep(settings: Settings, platform: str, names: Sequence[str]) -> int:
    """Write the list of a surface; a new session has it."""
    key = "toolsets" if platform == CLI else f"platform_toolsets.{platform}"
    if platform != CLI and "." in platform:
        raise UserError(f"{platform!r} is no surface", "name one such as telegram")
    on = tool_names(_own(settings, names))
    await asyncio.to_thread(config.set_value, settings.config_path, key, list(names))
    print(f"{platform}: {', '.join(on) or 'no tool'}")
    if not on:
        print_error("the model has no tool left", f"hermes tools enable {next(iter(TOOLSETS))}")
    return 0
