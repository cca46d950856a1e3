"""`hermes mcp add`, `remove` and `configure`: what changes mcp_servers in config.yaml."""

import argparse
import asyncio
import re
import sys
from collections.abc import Sequence

from hermes import config
from hermes.cli.ask import read_secret
from hermes.cli.main import print_error
from hermes.cli.mcp_ask import read_line
from hermes.cli.mcp_connect import connecting, entry_named
from hermes.cli.mcp_entry import Entry, entry_of
from hermes.cli.mcp_login import log_in_to
from hermes.cli.words import many
from hermes.config import Settings
from hermes.mcp.make import account_of
from hermes.mcp.oauth.flow import logout
from hermes.mcp.tools import is_chosen
from hermes.mcp.words import bounded, visible
from hermes.protocol.errors import UserError
from hermes.safety.contracts import Contracts

_range = re.compile(r"(\d+)(?:-(\d+))?")
LINE = 60
QUIET = 5.0
"""Seconds of waiting before a person is told what for."""
CONTRACTS = "mcp-contracts.json"


async def add(settings: Settings, args: argparse.Namespace) -> int:
    """Write the entry, then try it: an entry that does not work yet stays, and is said not to work."""
    entry = entry_of(args, settings)
    if entry.settings.get("auth") == "header" and "headers" not in entry.settings:
        token = await read_secret(f"token for {args.name}")
        entry.settings["headers"] = {"Authorization": f"Bearer {entry.hide('TOKEN', token)}"}
    await asyncio.to_thread(_write, settings, entry)
    fresh = config.load()
    if entry.settings.get("auth") == "oauth":
        try:
            await log_in_to(fresh, args.name)
        except UserError as error:
            print_error(f"{args.name} is added, but you are not logged in: {error}", f"hermes mcp login {args.name}")
            return 1
    try:
        return await _try(fresh, args.name)
    except asyncio.CancelledError:
        print_error(f"{args.name} is added, and was not tried to the end", f"hermes mcp remove {args.name}")
        raise


def _write(settings: Settings, entry: Entry) -> None:
    for name, value in entry.secrets.items():
        config.set_secret(settings.home / ".env", name, value)
    config.set_value(settings.config_path, f"mcp_servers.{entry.name}", entry.settings)


async def _try(settings: Settings, name: str) -> int:
    async with connecting(settings, [name]) as servers:
        server, patience = servers[name], entry_named(settings, name).connect_timeout
        if not await server.settled(min(QUIET, patience)) and server.status().state == "connecting":
            print(f"waiting for {name}, {patience:g} s at most …", file=sys.stderr, flush=True)
            await server.settled(patience - QUIET)
        status = server.status()
    if status.state == "ready":
        print(f"added {name}: {many(status.tools, 'tool')}")
        return 0
    if status.state == "needs_auth":
        print_error(f"{name} is added, and wants a login", f"hermes mcp login {name}")
    else:
        why = status.last_error or "it does not answer"
        print_error(f"{name} is added, but cannot be used yet: {why}", f"hermes mcp test {name}")
    return 1


async def remove(settings: Settings, args: argparse.Namespace) -> int:
    """Take out the entry, its login, the secrets that were kept for it alone, and what was approved of its tools."""
    entry = entry_named(settings, args.name)
    raw = config.read_yaml(settings.config_path)["mcp_servers"]
    own = set(_variables(raw.pop(args.name))) - set(_variables(raw))
    await asyncio.to_thread(config.unset_value, settings.config_path, f"mcp_servers.{args.name}")
    for name in own & config.read_env(settings.home / ".env").keys():
        await asyncio.to_thread(config.set_secret, settings.home / ".env", name, "")
    if entry.url:
        await asyncio.to_thread(logout, account_of(args.name, entry, settings))
    if (contracts := settings.home / CONTRACTS).exists():
        await asyncio.to_thread(Contracts(contracts).forget, args.name)
    print(f"removed {args.name}")
    return 0


def _variables(value: object) -> list[str]:
    """The variables of Hermes's own naming that some settings refer to."""
    return re.findall(r"\$\{(MCP_\w+)\}", str(value))


async def configure(settings: Settings, args: argparse.Namespace) -> int:
    """Choose a server's tools from a list. What is chosen is kept as `include`; all of them is no setting at all."""
    entry = entry_named(settings, args.name)
    async with connecting(settings, [args.name]) as servers:
        server = servers[args.name]
        await server.settled(entry.connect_timeout)
        tools, status = server.catalog.tools, server.status()
    if not tools:
        why = status.last_error or "it has no tools"
        raise UserError(f"{args.name} offers nothing to choose from: {why}", f"hermes mcp test {args.name}")
    names = [info.name for info in tools]
    chosen = {name for name in names if is_chosen(name, entry.tools)}
    while True:
        for number, info in enumerate(tools, 1):
            mark = "x" if info.name in chosen else " "
            print(f"{number:>3} [{mark}] {visible(info.name)}  {_about(info.description)}".rstrip())
        line = await read_line("numbers to switch (1 3-5), all, none, Enter to keep, q to leave: ")
        if line is None or line.lower() in ("q", "quit"):
            print("nothing was changed")
            return 0
        if not line:
            break
        try:
            chosen = switched(line, names, chosen)
        except UserError as error:
            print_error(error, error.hint)
    await asyncio.to_thread(_keep, settings, args.name, names, chosen)
    print(f"{args.name}: {len(chosen)} of {many(len(names), 'tool')}")
    return 0


def _about(description: str) -> str:
    return bounded(" ".join(visible(description).split()), LINE)


def switched(line: str, names: Sequence[str], chosen: set[str]) -> set[str]:
    """The choice after a line was typed."""
    if line.lower() in ("all", "none"):
        return set(names) if line.lower() == "all" else set()
    for word in line.replace(",", " ").split():
        found = _range.fullmatch(word)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= first <= last <= len(names):
            raise UserError(f"{word!r} is no number in the list", f"from 1 to {len(names)}")
        chosen = chosen ^ set(names[first - 1 : last])
    return chosen


def _keep(settings: Settings, name: str, names: Sequence[str], chosen: set[str]) -> None:
    key, path = f"mcp_servers.{name}.tools", settings.config_path
    config.unset_value(path, f"{key}.exclude")
    config.unset_value(path, f"{key}.include")
    if not chosen:
        config.set_value(path, f"{key}.exclude", ["*"])
    elif len(chosen) < len(names):
        # Signs that mean something in a pattern stand for themselves in brackets.
        config.set_value(path, f"{key}.include", [re.sub(r"([*?[])", r"[\1]", one) for one in names if one in chosen])
