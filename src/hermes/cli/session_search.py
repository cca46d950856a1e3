"""`hermes sessions search`: the sessions in which something was said, for people and for programs."""

import argparse
import sys
from typing import Any, TextIO

import msgspec

from hermes.cli.main import print_error
from hermes.cli.table import one_line, screen_width
from hermes.cli.words import many, moment
from hermes.commands.width import cut
from hermes.learning.recall.answer import Answer, answers
from hermes.learning.recall.quotes import body_of, when
from hermes.learning.recall.search import Search, Wanted, role_of
from hermes.learning.recall.tools import day, roles_named
from hermes.protocol.errors import ToolError, UserError
from hermes.protocol.recall import Said
from hermes.store.sqlite import SqliteStore

LIMIT = 5
INDENT = "  "


def add_arguments(actions: Any) -> None:
    found = actions.add_parser("search", help="the sessions in which something was said")
    found.add_argument(
        "query", metavar="QUERY", nargs="+", help='plain words; "a phrase" and -word (behind --) are strict'
    )
    found.add_argument("--limit", metavar="N", type=int, default=LIMIT, help=f"how many (default {LIMIT})")
    found.add_argument("--sort", choices=("newest", "oldest"), default="", help="by time; default: the best first")
    found.add_argument("--role", metavar="ROLE", default="", help="only what user, assistant or tool said")
    found.add_argument("--after", metavar="DAY", default="", help="only from this day on, as YYYY-MM-DD")
    found.add_argument("--before", metavar="DAY", default="", help="only before this day")
    found.add_argument("--json", action="store_true", help="one JSON line for each")
    found.set_defaults(do=search_sessions)
    actions.add_parser("reindex", help="make the index that search uses anew").set_defaults(do=reindex)


async def search_sessions(store: SqliteStore, args: argparse.Namespace) -> int:
    text = " ".join(args.query)
    try:
        wanted = Wanted(
            text=text,
            limit=args.limit,
            roles=roles_named(args.role),
            order=args.sort,
            since=day(args.after),
            until=day(args.before),
        )
    except ToolError as error:
        raise UserError(str(error), "hermes sessions search --help") from None
    if wanted.limit < 1:
        raise UserError("--limit must be 1 or more", f"the default is {LIMIT}")
    search = Search(store.index)
    if not await search.catch_up():
        print_error("the index is not up to date, because nothing can be written; what is in it was searched")
    found = await answers(await search.find(wanted), store.index)
    for answer in found:
        print(as_json(answer) if args.json else as_lines(answer, sys.stdout))
    if not found:
        print_error(f"nothing was found for {text!r}", "other words may help; hermes sessions list shows the newest")
    return 0 if found else 1


async def reindex(store: SqliteStore, args: argparse.Namespace) -> int:
    await store.index.clear()
    counted = [0]

    def tell(done: int) -> None:
        counted[0] = done
        if sys.stderr.isatty():
            print(f"\r{many(done, 'message')}", end="", file=sys.stderr, flush=True)

    if not await Search(store.index).catch_up(tell=tell):
        raise UserError("the index could not be written", "hermes doctor tells what is wrong with the database")
    if sys.stderr.isatty():
        print("\r", end="", file=sys.stderr)
    print(f"indexed {many(counted[0], 'message')}")
    return 0


def as_json(answer: Answer) -> str:
    said = [_message(each) for each in answer.around]
    fields = {
        "session": answer.session,
        "title": answer.title,
        "source": answer.source,
        "at": moment(answer.at),
        "messages": answer.messages,
        "message": answer.best.item.id,
        "snippet": answer.snippet,
        "around": said,
    }
    return msgspec.json.encode(fields).decode()


def _message(said: Said) -> dict[str, str]:
    return {"id": said.item.id, "role": role_of(said.item), "at": moment(said.at), "text": body_of(said.item)}


def as_lines(answer: Answer, out: TextIO) -> str:
    """A session and the place that fits, for a terminal."""
    width = screen_width(out)
    head = f"{answer.session}  {when(answer.at)}  {answer.title or '(no title)'}"
    words = one_line(answer.snippet).split()
    lines = [""]
    for word in [f"{role_of(answer.best.item)}:", *words]:
        if lines[-1] and len(lines[-1]) + len(word) + 1 > width - len(INDENT):
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return "\n".join([cut(one_line(head), width), *(INDENT + line for line in lines), ""])
