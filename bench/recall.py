"""Finding what was said: how many questions find their session among the first five, how long that takes in 100,000 messages,
how large the index is, and how long it takes to make it anew.

The conversations are those of tests/learning/recall/corpus.py, among small talk of rare and common words in the shares of a
natural language. They are written by the project; `python -m bench.locomo FILE` asks the questions of a published set.
"""

import asyncio
import random
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from pathlib import Path

import apsw
from msgspec import Struct

from bench.stage import Stage
from bench.table import Limit, Row
from hermes.learning.recall import answer
from hermes.learning.recall.search import Search, Wanted
from hermes.store.sqlite import SqliteStore
from tests.learning.recall.corpus import Question, Talk, chatter, make, name_of, store_talks

LEAST = 0.92
WORDS, SYLLABLES = 20_000, "ba ce di fo gu ka le mi no pu ra se ti vo zu shan tre plo gri ster"
TABLES = ("window", "chapter", "indexed")


class Looked(Struct, frozen=True):
    """How many questions of each kind there were, how many found their session, and the milliseconds of each, by the clock and of CPU."""

    asked: Counter[str]
    found: Counter[str]
    took: list[float]
    cpu: list[float]

    def share(self, kind: str) -> float:
        return self.found[kind] / self.asked[kind]


def measure(stage: Stage) -> Iterator[Row]:
    messages = stage.scale(100_000, 2_000)
    database = stage.fresh("recall") / "state.db"
    stage.say(f"storing {messages:,} messages")
    yield from asyncio.run(_measure(stage, database, messages))


async def _measure(stage: Stage, database: Path, messages: int) -> list[Row]:
    talks, questions = make(sessions=stage.scale(400, 40), length=24)
    talks += noise(messages - sum(len(talk.lines) for talk in talks), len(talks))
    questions += [Question("words", text, "") for text in common_questions(talks, stage.scale(200, 20))]
    text = sum(len(line.encode()) for talk in talks for line in talk.lines)
    async with SqliteStore(database) as store:
        await store_talks(store, talks)
        search = Search(store.index)
        began = time.perf_counter()
        await search.catch_up()
        built = time.perf_counter() - began
        looked = await look(search, questions)
        size = index_size(database)
    count = sum(len(talk.lines) for talk in talks)
    return [*shares(looked, count), *_costs(looked, count, built, size, text)]


def shares(looked: Looked, messages: int) -> Iterator[Row]:
    """How many questions missed, by the kind of question."""
    for kind, bar in (("plain", LEAST), ("paraphrase", LEAST), ("identifier", None), ("path", None), ("cjk", None)):
        yield Row(
            what=f"questions that miss their session in the first 5, {kind}",
            value=100 * (1 - looked.share(kind)),
            unit="%",
            beside=f"of {looked.asked[kind]} among {messages:,} messages",
            bar=Limit(value=100 * (1 - bar)) if bar else Limit(value=0),
        )


def _costs(looked: Looked, messages: int, built: float, size: int, text: int) -> Iterator[Row]:
    took, cpu = sorted(looked.took), sorted(looked.cpu)
    yield Row(
        what=f"search in {messages:,} messages, p95",
        value=took[int(len(took) * 0.95)],
        unit="ms",
        beside=f"p50 {took[len(took) // 2]:.0f} ms; of CPU p95 {cpu[int(len(cpu) * 0.95)]:.0f} ms",
        bar=Limit(value=80),
        aim=Limit(value=40),
    )
    yield Row(
        what="its index", value=size / 1e6, unit="MB", floor=text / 1e6, beside="of text said", bar=Limit(ratio=1)
    )
    yield Row(what="its index made anew", value=built, unit="s", bar=Limit(value=60))


async def look(search: Search, questions: Sequence[Question]) -> Looked:
    """Ask every question as the tool does."""
    looked = Looked(Counter(), Counter(), [], [])
    for question in questions:
        began, burnt = time.perf_counter(), time.process_time()
        await search.catch_up()
        matches = await search.find(Wanted(text=question.text))
        answer.as_text(await answer.answers(matches, search.index))
        looked.took.append((time.perf_counter() - began) * 1000)
        looked.cpu.append((time.process_time() - burnt) * 1000)
        looked.asked[question.kind] += 1
        looked.found[question.kind] += question.session in [match.hit.session for match in matches]
    return looked


def noise(messages: int, after: int) -> list[Talk]:
    """Sessions of forty messages, one in ten of them small talk. The words of the others are spread as in a language: the n-th
    most common one is n times as rare."""
    choose = random.Random(7)
    syllables = SYLLABLES.split()
    vocabulary = ["".join(choose.choices(syllables, k=choose.randrange(2, 5))) for _ in range(WORDS)]
    weights = list(accumulate(1 / (rank + 3) for rank in range(WORDS)))

    def line() -> str:
        if choose.random() < 0.1:
            return chatter(choose)
        return " ".join(choose.choices(vocabulary, cum_weights=weights, k=choose.randrange(8, 60)))

    talks: list[Talk] = []
    for place in range(after, after + max(0, messages) // 40):
        lines = tuple(line() for _ in range(40))
        talks.append(Talk(name_of(place), lines[0][:40], 1_765_000_000.0 + place * 3_600, lines))
    return talks


def common_questions(talks: Sequence[Talk], count: int) -> list[str]:
    """Questions of three to eight words as they are said, the common ones often: for their time only."""
    choose = random.Random(9)
    lines = [choose.choice(choose.choice(talks).lines).split() for _ in range(count)]
    return [" ".join(choose.choices(words, k=choose.randrange(3, 9))) for words in lines]


def index_size(database: Path) -> int:
    """Bytes of the pages that the index has."""
    connection = apsw.Connection(str(database))
    names = " OR ".join(f"name LIKE '{table}%'" for table in TABLES)
    [(size,)] = connection.execute(f"SELECT sum(pgsize) FROM dbstat WHERE {names}").fetchall()
    connection.close()
    return int(str(size))
