"""MCP servers, whose tools the model can use. Without an action: list them.

hermes mcp catalog
hermes mcp install linear
hermes mcp add files --command npx --args -y @modelcontextprotocol/server-filesystem .
hermes mcp add tickets --url https://example.com/mcp --header "Authorization=Bearer TOKEN"
"""

import argparse

from hermes import config
from hermes.cli.mcp_catalog import add_parsers as add_catalog
from hermes.cli.mcp_chaos import add_parser as add_chaos
from hermes.cli.mcp_connect import entry_named
from hermes.cli.mcp_edit import add, configure, remove
from hermes.cli.mcp_login import log_in, reauthenticate
from hermes.cli.mcp_presets import PRESETS
from hermes.cli.mcp_show import show_list, show_test
from hermes.config import Settings
from hermes.mcp.reconnects import request_reconnect


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(do=show_list)
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    listed = actions.add_parser("list", help="every server with its state, tools, breaker and last error")
    listed.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="as JSON")
    listed.set_defaults(do=show_list)
    _add_add(actions.add_parser("add", help="add a server, and try it"))
    for name, do, about in (
        ("remove", remove, "forget a server, its login and its secrets"),
        ("test", show_test, "connect step by step, with times"),
        ("configure", configure, "choose which of a server's tools are used"),
        ("login", log_in, "log in to a server with auth: oauth"),
        ("reconnect", reconnect, "let running processes connect anew, and try it here"),
    ):
        action = actions.add_parser(name, help=about)
        action.add_argument("name", metavar="NAME")
        action.set_defaults(do=do)
    again = actions.add_parser("reauth", help="forget a login and log in anew")
    again.add_argument("name", metavar="NAME", nargs="?", default="")
    again.add_argument("--all", action="store_true", help="every server with auth: oauth, one after the other")
    again.set_defaults(do=reauthenticate)
    add_catalog(actions)
    add_chaos(actions)


def _add_add(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="what it is called here; its tools are named mcp__NAME__…")
    parser.add_argument("--url", metavar="URL", default="", help="where it listens (streamable HTTP)")
    parser.add_argument("--command", metavar="PROGRAM", default="", help="the program that is the server (stdio)")
    parser.add_argument("--preset", metavar="NAME", default="", help=f"a known one: {', '.join(PRESETS)}")
    parser.add_argument(
        "--env", metavar="NAME=VALUE", action="append", default=[], help="for the program; may be repeated"
    )
    parser.add_argument(
        "--header", metavar="NAME=VALUE", action="append", default=[], help="for the URL; may be repeated"
    )
    parser.add_argument(
        "--auth", choices=("oauth", "header"), default="", help="log in with a browser, or with a token"
    )
    parser.add_argument("--transport", choices=("http", "sse"), default="", help="sse for servers of the old kind")
    parser.add_argument(
        "--args",
        metavar="ARG",
        nargs=argparse.REMAINDER,
        default=[],
        help="for the program; everything behind it, so last",
    )
    parser.set_defaults(do=add)


async def run(args: argparse.Namespace) -> int:
    return await args.do(config.load(), args)


async def reconnect(settings: Settings, args: argparse.Namespace) -> int:
    entry_named(settings, args.name)
    request_reconnect(settings.home, args.name)
    return await show_test(settings, args)
