"""Keys and logins of model providers, kept in auth.json. Without an action: list them.

hermes auth add nous                          log in with a browser
hermes auth add openrouter --label work       asks for the key; several keys of a provider take turns
"""

import argparse
import asyncio
import sys
import time
from collections.abc import Awaitable, Callable

from hermes import config
from hermes.app import App, Wish
from hermes.cli.ask import read_secret
from hermes.cli.main import print_error
from hermes.cli.open import open_app
from hermes.cli.table import Column, print_table
from hermes.cli.words import many
from hermes.commands.numbers import span
from hermes.models.authfile import Auth, AuthFile, StoredKey
from hermes.models.catalog import Vendor
from hermes.models.choose import Choice
from hermes.models.credentials import STRATEGIES
from hermes.models.login import Prompt, log_in
from hermes.models.pool import Pool
from hermes.models.resets import request_reset
from hermes.protocol.errors import UserError

COLUMNS = (Column("provider"), Column("label", shrinks=True), Column("type"), Column("kept in"), Column("state"))
LOGIN = "login"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(do=show_list)
    actions = parser.add_subparsers(title="actions", metavar="ACTION")
    actions.add_parser("list", help="every key and login, by label").set_defaults(do=show_list)
    actions.add_parser("status", help="can the current model be called, and how").set_defaults(do=show_status)

    added = actions.add_parser("add", help="add a key, or log in")
    added.add_argument("provider", metavar="PROVIDER")
    added.add_argument("key", metavar="KEY", nargs="?", help="better left out: then it is asked for and not shown")
    added.add_argument("--type", choices=("oauth", "api-key"), help="default: a login where there is one")
    added.add_argument("--label", metavar="NAME", default="", help="what lists call the key")
    added.set_defaults(do=add)

    removed = actions.add_parser("remove", help="forget a key")
    removed.add_argument("provider", metavar="PROVIDER")
    removed.add_argument("label", metavar="LABEL")
    removed.set_defaults(do=remove)

    turns = actions.add_parser("pool", help="show or choose in which order the keys of a provider take turns")
    turns.add_argument("provider", metavar="PROVIDER")
    turns.add_argument("strategy", metavar="STRATEGY", nargs="?", choices=STRATEGIES, help=", ".join(STRATEGIES))
    turns.set_defaults(do=pool)

    again = actions.add_parser("reset", help="try keys again that were rejected or used up, in running sessions too")
    again.add_argument("provider", metavar="PROVIDER", nargs="?", default="", help="default: those of every provider")
    again.set_defaults(do=reset)

    left = actions.add_parser("logout", help="forget a login")
    left.add_argument("provider", metavar="PROVIDER")
    left.set_defaults(do=log_out)


async def run(args: argparse.Namespace) -> int:
    async with open_app(args) as app:
        return await args.do(app, args)


async def show_list(app: App, args: argparse.Namespace) -> int:
    stored, now = app.auth.read(), time.time()
    rows: list[tuple[str, ...]] = []
    for vendor in app.chooser.catalog:
        labels = {key.label for key in stored.keys.get(vendor.name, ())}
        for key in app.chooser.keys(Choice(vendor.name, "")):
            where = "auth.json" if key.label in labels else "environment"
            rows.append((vendor.name, key.label, "key", where, ""))
        if grant := stored.logins.get(vendor.name):
            rows.append((vendor.name, LOGIN, "login", "auth.json", _freshness(grant.expires_at - now)))
    if not rows:
        print_error("there is no key and no login", "hermes auth add PROVIDER; hermes model lists the providers")
    else:
        print_table(COLUMNS, rows, sys.stdout)
    return 0


async def show_status(app: App, args: argparse.Namespace) -> int:
    """Whether the model that would answer can be called; a missing key is an error that says what to do."""
    choice = app.choice(Wish())
    app.roster.candidate(choice)
    keys = app.chooser.keys(choice)
    ways = [many(len(keys), "key") + f" ({', '.join(key.label for key in keys)})"] if keys else []
    if app.chooser.has_login(choice):
        grant = app.auth.read().logins[choice.provider]
        ways.append(f"a login ({_freshness(grant.expires_at - time.time())})")
    print(f"{choice.name}: {' and '.join(ways) or 'no key is needed'}")
    return 0


def _freshness(seconds: float) -> str:
    return f"valid for {span(seconds)}" if seconds > 0 else "is renewed at its next use"


async def add(app: App, args: argparse.Namespace) -> int:
    vendor = _vendor(app, args.provider)
    kind = args.type or ("oauth" if vendor.login and args.key is None else "api-key")
    if kind == "oauth":
        if args.key is not None:
            raise UserError("a login takes no key", f"hermes auth add {vendor.name}")
        return await add_login(vendor, app.auth, app.connect)
    if not vendor.keys:
        raise UserError(f"{vendor.title} needs no key", f"hermes model set {vendor.name}")
    key = await read_secret(f"key for {vendor.title}") if args.key in (None, "-") else args.key.strip()
    if len(key.split()) != 1:
        raise UserError("a key is one word without spaces", f"hermes auth add {vendor.name}")

    def with_key(stored: Auth) -> Auth:
        label = args.label or _free_label(stored, vendor.name)
        return stored.with_key(vendor.name, StoredKey(label, key))

    stored = await asyncio.to_thread(app.auth.change, with_key)
    print(f"{vendor.title} has the key {stored.keys[vendor.name][-1].label!r} now")
    return 0


def _free_label(stored: Auth, provider: str) -> str:
    taken = {key.label for key in stored.keys.get(provider, ())}
    number = 1
    while f"key-{number}" in taken:
        number += 1
    return f"key-{number}"


async def add_login(
    vendor: Vendor,
    auth: AuthFile,
    connect: Callable[[], Pool],
    sleep: Callable[[float], Awaitable[object]] = asyncio.sleep,
) -> int:
    """Show where to go and which code to confirm, and wait until it is done."""
    waiting: list[asyncio.Task[None]] = []

    def show(prompt: Prompt) -> None:
        print(f"Open {prompt.url} and confirm the code {prompt.code}", flush=True)
        waiting.append(asyncio.create_task(_count_down(prompt.expires_in)))

    try:
        await log_in(vendor, auth, show, connect=connect, sleep=sleep)
    finally:
        for task in waiting:
            task.cancel()
        if waiting and sys.stderr.isatty():
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    print(f"logged in to {vendor.title}")
    return 0


async def _count_down(seconds: float) -> None:
    """One moving line in a terminal, a single one elsewhere."""
    end = time.monotonic() + seconds
    if not sys.stderr.isatty():
        print(f"waiting for you, at most {span(seconds)} …", file=sys.stderr, flush=True)
        return
    while (left := end - time.monotonic()) > 0:
        print(f"\r\x1b[Kwaiting for you, {int(left)} s left …", end="", file=sys.stderr, flush=True)
        await asyncio.sleep(1)


async def remove(app: App, args: argparse.Namespace) -> int:
    vendor = _vendor(app, args.provider)
    known = [key.label for key in app.auth.read().keys.get(vendor.name, ())]
    if args.label not in known:
        if args.label in app.settings.environ:
            raise UserError(f"{args.label} is a variable", f"hermes config unset {args.label}")
        hint = f"there is {', '.join(known)}" if known else "hermes auth list shows what there is"
        raise UserError(f"{vendor.title} has no key {args.label!r} in auth.json", hint)
    await asyncio.to_thread(app.auth.change, lambda stored: stored.without_key(vendor.name, args.label))
    print(f"the key {args.label!r} of {vendor.title} is forgotten")
    return 0


async def pool(app: App, args: argparse.Namespace) -> int:
    """A provider's keys and the strategy of their pool, or another one from the next session on."""
    vendor = _vendor(app, args.provider)
    strategy = args.strategy or app.settings.file.credential_pools.get(vendor.name, STRATEGIES[0])
    if args.strategy:
        key = f"credential_pools.{vendor.name}"
        await asyncio.to_thread(config.set_value, app.settings.config_path, key, args.strategy)
    labels = [key.label for key in app.chooser.keys(Choice(vendor.name, ""))]
    print(f"{vendor.name}: {strategy}, {many(len(labels), 'key')}" + (f" ({', '.join(labels)})" if labels else ""))
    return 0


async def reset(app: App, args: argparse.Namespace) -> int:
    """Every process passes over a key that failed for a while; from now on none is passed over."""
    name = args.provider.removeprefix("custom:")
    if name and name not in app.chooser.customs:
        name = app.chooser.catalog.get(name).name
    await asyncio.to_thread(request_reset, app.settings.home, name)
    print(f"the keys of {name or 'every provider'} are tried again, in sessions that are running too")
    return 0


async def log_out(app: App, args: argparse.Namespace) -> int:
    vendor = _vendor(app, args.provider)
    if vendor.name not in app.auth.read().logins:
        raise UserError(f"you are not logged in to {vendor.title}", "hermes auth list shows what there is")
    await asyncio.to_thread(app.auth.change, lambda stored: stored.with_login(vendor.name, None))
    print(f"logged out of {vendor.title}")
    return 0


def _vendor(app: App, name: str) -> Vendor:
    own = app.chooser.customs.get(name.removeprefix("custom:"))
    if own is not None:
        variable = own.api_key_env or f"custom_providers.{name}.api_key_env"
        raise UserError(f"{name} is your own endpoint: its key is a variable", f"hermes config set {variable}")
    return app.chooser.catalog.get(name)
