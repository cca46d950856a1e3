"""Ask the questions of LoCoMo, a published set of long conversations: python -m bench.locomo locomo10.json

Each of its conversations becomes a store of its own, or with --together one store for all; each of its sessions a session,
each of its turns a message. A question is found if a session that its evidence lies in is among the first
five; recall is the share of such sessions that are. The file is its authors', and not part of this project.
"""

import argparse
import asyncio
import re
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec
from msgspec import Struct

from bench.table import render
from hermes.learning.recall.search import Search, Wanted
from hermes.protocol.errors import UserError
from hermes.store.sqlite import SqliteStore
from tests.learning.recall.corpus import Talk, store_talks

HEAD = ("questions", "how many", "found in 5", "recall in 5", "found first", "ms, p95")
KINDS = {1: "several sessions", 2: "time", 3: "open", 4: "one session", 5: "with no answer"}
FIRST = 5

_session = re.compile(r"session_(\d+)$")
_evidence = re.compile(r"D(\d+):\d+")


class Asked(Struct, frozen=True):
    """A question, its kind, and the sessions that have the answer."""

    kind: str
    text: str
    sessions: frozenset[str]


class Result(Struct, frozen=True):
    kind: str
    found: bool
    recall: float
    first: bool
    took: float


def read(sample: dict[str, Any]) -> tuple[list[Talk], list[Asked]]:
    """One conversation, and what is asked about it."""
    name, conversation = sample["sample_id"], sample["conversation"]
    talks = [
        Talk(_name(name, match[1]), "", _moment(conversation.get(f"{key}_date_time", "")), tuple(map(_line, turns)))
        for key, turns in conversation.items()
        if (match := _session.match(key)) and turns
    ]
    asked = [
        # Quotation marks are prose here, not the request for a phrase.
        Asked(KINDS.get(row["category"], "other"), str(row["question"]).replace('"', " "), frozenset(sessions))
        for row in sample["qa"]
        if (sessions := [_name(name, number) for number in _evidence.findall(" ".join(row.get("evidence") or ()))])
    ]
    return talks, asked


def _name(sample: str, number: str) -> str:
    return f"{sample}-{int(number):03}"


def _line(turn: dict[str, Any]) -> str:
    picture = f" [{turn['blip_caption']}]" if turn.get("blip_caption") else ""
    return f"{turn['speaker']}: {turn.get('text', '')}{picture}"


def _moment(text: str) -> float:
    """A time like "1:56 pm on 8 May, 2023"; 0 if it is written in another way."""
    try:
        return time.mktime(time.strptime(text, "%I:%M %p on %d %B, %Y"))
    except ValueError:
        return 0.0


async def ask(talks: Sequence[Talk], asked: Sequence[Asked]) -> list[Result]:
    with tempfile.TemporaryDirectory(prefix="hermes-locomo-") as folder:
        async with SqliteStore(Path(folder) / "state.db") as store:
            await store_talks(store, talks)
            search = Search(store.index)
            await search.catch_up()
            return [await _ask(search, question) for question in asked]


async def _ask(search: Search, question: Asked) -> Result:
    began = time.perf_counter()
    names = [match.hit.session for match in await search.find(Wanted(text=question.text, limit=FIRST))]
    took = (time.perf_counter() - began) * 1000
    right = question.sessions.intersection(names)
    first = bool(names) and names[0] in question.sessions
    return Result(question.kind, bool(right), len(right) / len(question.sessions), first, took)


def table(results: Sequence[Result]) -> str:
    """A row for each kind of question, and one for those that have an answer."""
    kinds = [kind for kind in KINDS.values() if any(result.kind == kind for result in results)]
    rows = [_row(kind, [result for result in results if result.kind == kind]) for kind in kinds]
    rows.append(_row("all with an answer", [result for result in results if result.kind != KINDS[5]]))
    return render(HEAD, rows)


def _row(name: str, results: Sequence[Result]) -> tuple[str, ...]:
    count = len(results) or 1
    shares = (sum(getattr(result, field) for result in results) / count for field in ("found", "recall", "first"))
    took = sorted(result.took for result in results) or [0.0]
    return (
        name,
        f"{len(results):,}",
        *(f"{100 * share:.1f} %" for share in shares),
        f"{took[int(count * 0.95) - 1]:.0f}",
    )


async def run(samples: Sequence[dict[str, Any]], *, together: bool) -> list[Result]:
    read_in = [read(sample) for sample in samples]
    if together:
        read_in = [([talk for talks, _ in read_in for talk in talks], [one for _, asked in read_in for one in asked])]
    return [result for talks, asked in read_in for result in await ask(talks, asked)]


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.locomo", description="Session search on LoCoMo's questions.")
    parser.add_argument("file", type=Path, help="locomo10.json")
    parser.add_argument("--together", action="store_true", help="all conversations in one store")
    args = parser.parse_args(argv)
    try:
        samples = msgspec.json.decode(args.file.read_bytes(), type=list[dict[str, Any]])
        print(table(asyncio.run(run(samples, together=args.together))))
    except (OSError, msgspec.DecodeError, KeyError, UserError) as error:
        print(f"bench.locomo: {args.file}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
