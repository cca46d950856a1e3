"""Stored sessions: what was said, when, and what it cost. Without an action: list them.

A session is named by its id, the beginning of its id, or its title.
"""

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO

import msgspec

from hermes.app.pruning import delete_each, unused_for
from hermes.cli import session_browse, session_search
from hermes.cli.ask import confirm
from hermes.cli.main import MOST, print_error
from hermes.cli.open import open_app
from hermes.cli.stored import EVERY, events_of, find
from hermes.cli.table import Column, one_line, print_table, screen_width
from hermes.cli.transcript import as_text
from hermes.cli.words import ago, many, moment
from hermes.commands.numbers import short
from hermes.commands.transcript import as_markdown, turns_of
from hermes.protocol.errors import UserError
from hermes.protocol.store import SessionRow, Totals
from hermes.protocol.wire import encode_event
from hermes.store.sqlite import SqliteStore

LISTED = 20
COLUMNS = (
    Column("id"),
    Column("title", shrinks=True),
    Column("model", shrinks=True),
    Column("msgs", right=True),
    Column("tokens", right=True),
    Column("cost", right=True),
    Column("used"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.set_defaults(do=list_sessions, limit=LISTED)
    actions = parser.add_subparsers(title="actions", metavar="ACTION")

    listed = actions.add_parser("list", help="the newest sessions")
    listed.add_argument("--limit", metavar="N", type=int, default=LISTED, help=f"how many (default {LISTED})")
    listed.add_argument("--source", metavar="TAG", default=argparse.SUPPRESS, help="only those of cli, cron, …")
    listed.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="one JSON line for each")
    listed.set_defaults(do=list_sessions)

    shown = actions.add_parser("show", help="the conversation")
    shown.add_argument("id", metavar="SESSION")
    shown.add_argument("--full", action="store_true", help="with thoughts, arguments and whole results")
    shown.set_defaults(do=show_session)

    exported = actions.add_parser("export", help="every event as JSON, or a readable transcript")
    exported.add_argument("id", metavar="SESSION")
    exported.add_argument("--format", choices=("jsonl", "json", "markdown"), default="jsonl", help="default jsonl")
    exported.add_argument("-o", "--output", metavar="FILE", help="write there and not to stdout")
    exported.set_defaults(do=export_session)

    renamed = actions.add_parser("rename", help="give it another title")
    renamed.add_argument("id", metavar="SESSION")
    renamed.add_argument("title", metavar="TITLE", nargs="+")
    renamed.set_defaults(do=rename_session)

    deleted = actions.add_parser("delete", help="remove sessions for good")
    deleted.add_argument("ids", metavar="SESSION", nargs="+")
    deleted.add_argument("-y", "--yes", action="store_true", help="do not ask")
    deleted.set_defaults(do=delete_sessions)

    pruned = actions.add_parser("prune", help="remove sessions that were not used for long")
    pruned.add_argument("--older-than", metavar="DAYS", type=float, required=True, help="days since the last use")
    pruned.add_argument("-y", "--yes", action="store_true", help="do not ask")
    pruned.add_argument("--dry-run", action="store_true", help="only say which")
    pruned.set_defaults(do=prune_sessions)

    session_browse.add_arguments(actions)
    session_search.add_arguments(actions)
    actions.add_parser("stats", help="how many there are and what they used").set_defaults(do=show_stats)


async def run(args: argparse.Namespace) -> int:
    if args.do is session_browse.browse:  # the session that it opens has an app of its own
        return await session_browse.browse(args)
    async with open_app(args) as app:
        return await args.do(app.store, args)


async def list_sessions(store: SqliteStore, args: argparse.Namespace) -> int:
    if args.limit < 1:
        raise UserError("--limit must be 1 or more", f"the default is {LISTED}")
    source = vars(args).get("source", "")
    rows = await store.sessions(source=source, limit=min(args.limit, MOST))
    if vars(args).get("json"):
        for row in rows:
            print(msgspec.json.encode(row).decode())
    elif rows:
        _print_rows(rows)
    else:
        print_error(
            f"there are no sessions from {source}" if source else "there are no sessions yet", "hermes starts one"
        )
    return 0


async def show_session(store: SqliteStore, args: argparse.Namespace) -> int:
    row = await find(store, args.id)
    used = row.totals
    facts = (
        row.model,
        row.cwd,
        many(used.messages, "message"),
        many(used.input + used.output, "token"),
        _cost(used).replace("?", "price unknown"),
        ago(row.active, time.time()),
    )
    print(f"{row.id}  {one_line(row.title)}\n{', '.join(facts)}\n")
    turns = await turns_of(store, row.id)
    for line in as_text(turns, full=args.full, width=screen_width(sys.stdout)):
        print(line)
    return 0


async def export_session(store: SqliteStore, args: argparse.Namespace) -> int:
    row = await find(store, args.id)
    with _target(args.output) as out:
        match args.format:
            case "jsonl":
                async for line in _json_lines(store, row):
                    out.write(line + "\n")
            case "json":
                # The events are written as they are read: a long session need not fit into memory.
                out.write(f'{{"session":{msgspec.json.encode(row).decode()},"events":[')
                comma = "\n"
                async for line in _json_lines(store, row):
                    out.write(comma + line)
                    comma = ",\n"
                out.write("\n]}\n")
            case _:
                out.write(as_markdown(row, await turns_of(store, row.id)))
    return 0


async def rename_session(store: SqliteStore, args: argparse.Namespace) -> int:
    row = await find(store, args.id)
    title = " ".join(" ".join(args.title).split())
    await store.rename(row.id, title)
    print(f"{row.id} is now {title!r}" if title else f"{row.id} has no title now")
    return 0


async def delete_sessions(store: SqliteStore, args: argparse.Namespace) -> int:
    rows = {row.id: row for row in [await find(store, name) for name in args.ids]}
    [one, *others] = rows.values()
    what = many(len(rows), "session") if others else f"{one.id} ({one.title or 'no title'})"
    if not (args.yes or await confirm(f"Delete {what}?")):
        return 1
    count = await store.delete(list(rows))
    print(f"deleted {many(count, 'session')}")
    return 0


async def prune_sessions(store: SqliteStore, args: argparse.Namespace) -> int:
    if not args.older_than >= 0:
        raise UserError("--older-than must not be negative", "hermes sessions prune --older-than 90")
    old = await unused_for(store, args.older_than)
    if args.dry_run or not old:
        _print_rows(old)
        print_error(f"{many(len(old), 'session')} would be deleted" if old else "there is nothing to prune")
        return 0
    if not (args.yes or await confirm(f"Delete {many(len(old), 'session')} not used for {args.older_than:g} days?")):
        return 1
    print(f"deleted {many(await delete_each(store, old, print_error), 'session')}")
    return 0


async def show_stats(store: SqliteStore, args: argparse.Namespace) -> int:
    rows = await store.sessions(limit=EVERY)
    used = Totals(**{n: sum(getattr(row.totals, n) for row in rows) for n in Totals.__struct_fields__})
    sources = Counter(row.source for row in rows)
    facts = {
        "sessions": f"{len(rows):,}",
        "from": ", ".join(f"{source} {count:,}" for source, count in sources.most_common()),
        "first": moment(min(row.started for row in rows)) if rows else "",
        "turns": f"{used.turns:,}",
        "messages": f"{used.messages:,}",
        "model calls": f"{used.steps:,}",
        "tool calls": f"{used.calls:,}",
        "tokens in": f"{used.input:,}, of them {used.cache_read:,} from a cache",
        "tokens out": f"{used.output:,}",
        "cost": _cost(used),
        "database": f"{store.path.stat().st_size / 1e6:,.1f} MB, {store.path}",
    }
    for name, fact in facts.items():
        if fact:
            print(f"{name:<12} {fact}")
    return 0


def _print_rows(rows: Iterable[SessionRow]) -> None:
    now, exact = time.time(), not sys.stdout.isatty()
    print_table(COLUMNS, [_cells(row, now, exact) for row in rows], sys.stdout)


def _cells(row: SessionRow, now: float, exact: bool) -> list[str]:
    """A session as people read it, or `exact` for programs."""
    used = row.totals
    tokens = used.input + used.output
    provider, _, model = row.model.partition(":")
    return [
        row.id,
        row.title,
        row.model if exact else model.rpartition("/")[2] or provider,
        str(used.messages),
        str(tokens) if exact else short(tokens),
        _cost(used),
        moment(row.active) if exact else ago(row.active, now),
    ]


def _cost(used: Totals) -> str:
    """Dollars; with a + if some calls have no known price, and ? if none has."""
    if not used.unpriced:
        return f"${used.cost:.2f}"
    return f"${used.cost:.2f}+" if used.cost else "?"


async def _json_lines(store: SqliteStore, row: SessionRow) -> AsyncIterator[str]:
    async for event in events_of(store, row.id):
        yield encode_event(event).decode()


@contextmanager
def _target(path: str | None) -> Iterator[TextIO]:
    """Where an export goes: the file, or stdout."""
    if path is None:
        yield sys.stdout
        return
    try:
        with open(os.path.expanduser(path), "w", encoding="utf-8") as file:
            yield file
    except OSError as error:
        raise UserError(f"cannot write {path}: {error.strerror}", "choose another file with -o") from None
