"""`hermes mcp login` and `reauth`: a person logs in to a server with a browser, or pastes what the browser ends at."""

import argparse
import asyncio
import sys

from hermes import config
from hermes.cli.main import print_error
from hermes.cli.mcp_ask import read_line
from hermes.cli.mcp_connect import entry_named
from hermes.config import McpServer, Settings
from hermes.mcp.make import account_of
from hermes.mcp.oauth.flow import login, logout
from hermes.mcp.oauth.web import LoginFailed
from hermes.mcp.reconnects import request_reconnect
from hermes.protocol.errors import HermesError, UserError


async def log_in(settings: Settings, args: argparse.Namespace) -> int:
    await log_in_to(settings, args.name)
    return 0


async def reauthenticate(settings: Settings, args: argparse.Namespace) -> int:
    """Forget what is stored and log in anew; with --all one server after the other, whatever becomes of the first."""
    if bool(args.name) == args.all:
        raise UserError("which server?", "hermes mcp reauth NAME, or --all")
    names = (
        [name for name, one in settings.file.mcp_servers.items() if one.auth == "oauth"] if args.all else [args.name]
    )
    if not names:
        raise UserError("no MCP server has auth: oauth", "hermes mcp list shows what there is")
    failed = 0
    for name in names:
        try:
            await asyncio.to_thread(logout, account_of(name, _with_login(settings, name), settings))
            await log_in_to(settings, name)
        except HermesError as error:
            if not args.all:
                raise
            print_error(error, getattr(error, "hint", ""))
            failed = 1
    return failed


async def log_in_to(settings: Settings, name: str) -> None:
    """Log in, and let running processes know."""
    entry = _with_login(settings, name)
    await login(account_of(name, entry, settings), _ask)
    if entry.auth != "oauth":
        config.set_value(settings.config_path, f"mcp_servers.{name}.auth", "oauth")
    request_reconnect(settings.home, name)
    print(f"logged in to {name}")


def _with_login(settings: Settings, name: str) -> McpServer:
    """The settings of a server that a person can log in to."""
    entry = entry_named(settings, name)
    if not entry.url:
        raise UserError(f"{name} is a program, which needs no login here", f"hermes mcp test {name}")
    if entry.auth == "header" or any(header.lower() == "authorization" for header in entry.headers):
        raise UserError(f"{name} is used with a token of its own", f"hermes config unset mcp_servers.{name}.headers")
    return entry


async def _ask(url: str) -> str:
    """Show the page; whoever has no browser here can paste the address that theirs ended at."""
    print(f"Open {url}", flush=True)
    if not sys.stdin.isatty():
        print("waiting for the browser to come back …", file=sys.stderr, flush=True)
        return ""
    line = await read_line("Log in there. If your browser is on another machine, paste the address it ends at: ")
    if line is None:
        raise LoginFailed("the login was given up", "hermes mcp login")
    return line
