"""Say what the gate would do: with a command, an address or a path, and what it would mask in a text.

hermes policy explain git push --force
hermes policy explain --jsonl < rows        {"command"}, {"url", "resolve", "redirects"} or {"path", "op", "root"} a line
hermes policy redact --jsonl < rows         {"text"} a line
"""

import argparse
import os
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import UNSET, Struct, UnsetType

from hermes import config
from hermes.protocol.actions import Origin, RunCommand, Verdict
from hermes.protocol.errors import UserError
from hermes.safety.commands.grants import from_text
from hermes.safety.environment import scrubbed
from hermes.safety.gate import Gate, Policy
from hermes.safety.places import places_of


class Row(Struct):
    """One question of a file of questions: about a command, an address or a path."""

    command: str | UnsetType = UNSET
    url: str | UnsetType = UNSET
    resolve: dict[str, list[list[str]]] = {}
    redirects: list[str] = []
    path: str | UnsetType = UNSET
    op: Literal["read", "write", "extract"] = "read"
    root: str = ""


class Text(Struct):
    text: str


class Answer(Struct):
    verdict: str
    rule: str
    why: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    actions = parser.add_subparsers(title="actions", metavar="ACTION", required=True)
    explained = actions.add_parser(
        "explain", help="whether a command, address or path would run, ask or be blocked, and why"
    )
    explained.add_argument(
        "--jsonl", action="store_true", help="read rows of JSON from stdin, write one verdict a line"
    )
    explained.add_argument(
        "words", metavar="COMMAND", nargs=argparse.REMAINDER, help="a command, quoted or word by word"
    )
    explained.set_defaults(do=explain)
    masked = actions.add_parser("redact", help="mask the secrets in a text")
    masked.add_argument("--jsonl", action="store_true", help="read rows of JSON from stdin, write one text a line")
    masked.set_defaults(do=redact)


async def run(args: argparse.Namespace) -> int:
    return args.do(args)


def explain(args: argparse.Namespace) -> int:
    judge = _judge()
    if args.jsonl:
        return _lines(lambda line: _answer(_verdict(msgspec.json.decode(line, type=Row), judge)))
    if not args.words:
        raise UserError("which command?", "hermes policy explain git push")
    verdict = judge(args.words[0] if len(args.words) == 1 else shlex.join(args.words))
    print(f"{verdict.decision} by the rule {verdict.rule}" + (f": {verdict.why}" if verdict.why else ""))
    return 0


def redact(args: argparse.Namespace) -> int:
    from hermes.safety.secrets.redact import Redactor

    environ = config.load().environ
    shown = scrubbed(environ)
    redactor = Redactor(value for name, value in environ.items() if name not in shown)
    if args.jsonl:
        return _lines(lambda line: Text(redactor.mask(msgspec.json.decode(line, type=Text).text)))
    sys.stdout.write(redactor.mask(sys.stdin.read()))
    return 0


def _judge() -> Callable[[str], Verdict]:
    """Judge commands in this folder, by the rules and by what the settings forbid and allow for good."""
    settings = config.load()
    user_home = os.path.realpath(settings.environ.get("HOME") or Path.home())
    policy = Policy(
        places=places_of(settings.home, user_home),
        deny=settings.file.approvals.deny,
        allow=tuple(from_text(grant) if isinstance(grant, str) else grant for grant in settings.file.command_allowlist),
    )
    gate = Gate(policy, always=lambda grant: None)
    here = os.path.realpath(".")
    origin = Origin(surface="cli", session="policy", workspace=here)
    return lambda command: gate.judge(RunCommand(command, here), origin)


def _verdict(row: Row, judge: Callable[[str], Verdict]) -> Verdict:
    if row.command is not UNSET:
        return judge(row.command)
    if row.url is not UNSET:
        from hermes.safety.urls import judge_url

        return judge_url(row.url, row.resolve, row.redirects)
    if row.path is not UNSET:
        from hermes.safety.paths import judge_path

        return judge_path(row.path, row.op, row.root or os.path.realpath("."))
    raise msgspec.ValidationError("a row needs a command, a url or a path")


def _answer(verdict: Verdict) -> Answer:
    return Answer(verdict.decision, verdict.rule, verdict.why)


def _lines(answer: Callable[[bytes], Struct]) -> int:
    """Answer line by line; one that cannot be read gets an answer too, and the exit code tells."""
    code = 0
    for line in sys.stdin.buffer if hasattr(sys.stdin, "buffer") else map(str.encode, sys.stdin):
        if not line.strip():
            continue
        try:
            answered = answer(line)
        except msgspec.MsgspecError as error:
            answered, code = Answer("block", "bad-row", str(error)), 1
        sys.stdout.write(msgspec.json.encode(answered).decode() + "\n")
        sys.stdout.flush()
    return code
