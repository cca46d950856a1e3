"""An entry of mcp_servers from the flags of `hermes mcp add`: checked, and with its secrets kept apart."""

import argparse
import re
import shlex
from collections.abc import Iterable
from typing import Any
from urllib.parse import urlsplit

from hermes.cli.keys import VARIABLE, is_secret
from hermes.cli.mcp_presets import preset
from hermes.config import SECRET_NAME, Settings
from hermes.mcp.names import SIGNS
from hermes.protocol.errors import UserError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,31}")
_secret_header = re.compile(r"auth|token|key|secret|cookie", re.IGNORECASE)
_scheme = re.compile(r"(Bearer|Basic|Token)\s+", re.IGNORECASE)


class Entry:
    """What goes to config.yaml (`settings`) and what goes to .env (`secrets`) for one server."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.settings: dict[str, Any] = {}
        self.secrets: dict[str, str] = {}

    def hide(self, what: str, value: str) -> str:
        """Keep a value in .env and give what stands for it in config.yaml."""
        variable = SIGNS.sub("_", f"MCP_{self.name}_{what}").upper()
        if not SECRET_NAME.match(variable):
            variable += "_SECRET"
        self.secrets[variable] = value
        return f"${{{variable}}}"


def entry_of(args: argparse.Namespace, known: Settings) -> Entry:
    """The entry that the flags describe; a UserError says which of them does not fit."""
    check_name(args.name, known)
    entry = Entry(args.name)
    if sum(map(bool, (args.url, args.command, args.preset))) != 1:
        hint = f"hermes mcp add {args.name} --url URL, --command PROGRAM or --preset NAME"
        raise UserError("a server has either a URL or a command", hint)
    if args.url:
        entry.settings["url"] = _url(args.url)
    elif args.command:
        entry.settings |= _command(args.command)
    else:
        entry.settings |= preset(args.preset)
    if args.args and "command" in entry.settings:
        entry.settings["args"] = [*entry.settings.get("args", ()), *args.args]
    _check_kind(args, entry)
    if args.transport:
        entry.settings["transport"] = args.transport
    if args.auth:
        entry.settings["auth"] = args.auth
    if args.env:
        entry.settings["env"] = {name: _variable(entry, name, value) for name, value in _pairs(args.env, "--env")}
    if args.header:
        headers = {name: _header(entry, name, value) for name, value in _pairs(args.header, "--header")}
        entry.settings["headers"] = headers
    return entry


def check_name(name: str, known: Settings) -> None:
    """A name that can stand in settings and in the names of tools, and is no other server's."""
    if not NAME.fullmatch(name) or "__" in name:
        hint = "use letters, digits, - and single _, at most 32, a letter or digit first"
        raise UserError(f"{name!r} cannot be a server's name", hint)
    for other in known.file.mcp_servers:
        if SIGNS.sub("_", other).lower() == SIGNS.sub("_", name).lower():
            raise UserError(
                f"there is a server {other!r} already", f"hermes mcp remove {other}, or choose another name"
            )


def _check_kind(args: argparse.Namespace, entry: Entry) -> None:
    """Flags that mean nothing for this kind of server are a mistake of the person."""
    if "url" in entry.settings:
        given, hint = {"--env": args.env, "--args": args.args}, "a URL takes --header and --auth"
    else:
        given = {"--header": args.header, "--auth": args.auth, "--transport": args.transport}
        hint = "a command takes --args and --env"
    if wrong := next((flag for flag, value in given.items() if value), ""):
        raise UserError(f"{wrong} does not go with this server", hint)


def _url(url: str) -> str:
    try:
        parts = urlsplit(url)
        is_web = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_web = False
    if not is_web:
        raise UserError(f"{url!r} is not the URL of a server", "for example --url https://example.com/mcp")
    return url


def _command(command: str) -> dict[str, Any]:
    """A program, and the arguments that stand in one text with it."""
    hint = "for example --command npx --args -y some-server"
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise UserError(f"cannot read the command {command!r}: {error}", hint) from None
    if not words:
        raise UserError("the command is empty", hint)
    return {"command": words[0]} | ({"args": words[1:]} if words[1:] else {})


def _pairs(given: Iterable[str], flag: str) -> Iterable[tuple[str, str]]:
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip() or not value.isprintable():
            raise UserError(f"cannot read {flag} {name}", f"write {flag} NAME=VALUE")
        yield name.strip(), value.strip()


def _variable(entry: Entry, name: str, value: str) -> str:
    if "${" in value or not (is_secret(name, value) or (VARIABLE.fullmatch(name) and SECRET_NAME.match(name))):
        return value
    return entry.hide(name, value)


def _header(entry: Entry, name: str, value: str) -> str:
    if "${" in value or not _secret_header.search(name):
        return value
    scheme = _scheme.match(value)
    before = scheme[0] if scheme else ""
    return before + entry.hide(name, value.removeprefix(before))
