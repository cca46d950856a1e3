"""Talk in this terminal, or ask one question with -q."""

import argparse
import sys
from pathlib import Path

from hermes.cli.full import fits, talk_on_screen
from hermes.config import environment, find_home
from hermes.protocol.errors import UserError

OPENS_SESSION = True


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("-q", "--query", metavar="PROMPT", help="ask this and stop (- reads stdin)")
    parser.add_argument("--image", metavar="PATH", action="append", default=[], help="a picture to send along")
    parser.add_argument("-Q", "--quiet", action="store_true", help="print the answer and nothing else")


async def run(args: argparse.Namespace) -> int:
    if getattr(args, "worktree", False):
        from hermes.cli.worktree import workplace

        async with workplace(args):
            return await _talk(args)
    return await _talk(args)


async def _talk(args: argparse.Namespace) -> int:
    query: str | None = args.query
    piped = ""
    if query and (query == "-" or not sys.stdin.isatty()):
        from hermes.cli.attached import attached, whole

        query, piped = (await whole(), "") if query == "-" else (query, await attached())
    if query is not None and not query.strip():
        raise UserError("the prompt is empty", 'hermes -z "a question"')
    if query is None and sys.stdin.isatty():
        _greet_home(find_home())
    if query is None and fits(args, environment()):
        return await talk_on_screen(args)
    from hermes.cli.open import open_app, wish_of  # not before the screen is painted

    talks = query is None and sys.stdin.isatty()
    async with open_app(args) as app:
        wish = await wish_of(app, args, can_ask=talks)
        if query is not None:
            from hermes.cli.oneshot import ask_once

            return await ask_once(app, wish, readable(query), args, piped)
        from hermes.cli.lines import LineChat  # 11 ms that a single question does not need

        return await LineChat(app, wish, args).run()


def _greet_home(home: Path) -> None:
    """Give a home at its first start the file in which its owner says who Hermes is."""
    if not (home / "state.db").exists():
        from hermes.cli.soul import seed_soul

        seed_soul(home)


def readable(text: str) -> str:
    """A prompt whose bytes that are no UTF-8 are shown as such: argv smuggles them in as lone surrogates."""
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
