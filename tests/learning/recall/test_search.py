"""Sessions are found by what was said in them, and only those that should be."""

import asyncio
import time
from collections import Counter
from pathlib import Path
from typing import Any

import apsw
import msgspec
import pytest

from hermes.learning.recall.search import Search, Wanted
from hermes.protocol.events import Event, ItemDone
from hermes.protocol.items import Text, UserMessage
from hermes.protocol.recall import Terms
from hermes.protocol.store import Batch, SessionRow
from hermes.store.owner import this_process
from hermes.store.sqlite import SqliteStore
from tests.learning.recall.corpus import HOUR, START, Talk, events_of, make, store_talks

ME = this_process()
CORPUS = Path(__file__).parents[2] / "safety" / "corpora" / "injections.jsonl"


@pytest.fixture
async def store(tmp_path):
    async with SqliteStore(tmp_path / "state.db") as store:
        yield store


def talk(name: str, *lines: str, began: float = START, title: str = "") -> Talk:
    return Talk(name, title, began, lines)


async def find(store: SqliteStore, text: str, **more: Any) -> list[str]:
    search = Search(store.index)
    assert await search.catch_up()
    return [match.hit.session for match in await search.find(Wanted(text=text, **more))]


async def test_plain_questions_and_paraphrases_find_their_session_among_the_first_five(store):
    talks, questions = make()
    await store_talks(store, talks)
    search = Search(store.index)
    await search.catch_up()
    asked, found = Counter(), Counter()
    for question in questions:
        names = [match.hit.session for match in await search.find(Wanted(text=question.text))]
        asked[question.kind] += 1
        found[question.kind] += question.session in names
    shares = {kind: found[kind] / count for kind, count in asked.items()}
    assert shares.keys() == {"plain", "paraphrase", "identifier", "path", "cjk"}
    assert shares["plain"] >= 0.97 and shares["paraphrase"] >= 0.92
    assert (shares["identifier"], shares["path"], shares["cjk"]) == (1, 1, 1)


async def test_the_index_that_grew_is_the_one_that_is_made_anew(store):
    talks, _ = make(sessions=12)
    grown: dict[str, list[Event]] = {each.name: list(events_of(each)) for each in talks}
    for each in talks:
        await store.create(SessionRow(id=each.name, source="cli", model="m", cwd="/", started=each.began), Batch(), ME)
    while any(grown.values()):
        for name, events in grown.items():
            await store.append(name, ME, Batch(events=tuple(events[:7])))
            del events[:7]
        await Search(store.index).catch_up()
    piecewise = contents(store.path)
    await store.index.clear()
    assert contents(store.path) != piecewise
    await Search(store.index).catch_up()
    assert contents(store.path) == piecewise


def contents(database: Path) -> list[Any]:
    """Every passage with its terms, whatever its number."""
    db = apsw.Connection(str(database))
    found: list[Any] = []
    for kind in ("window", "chapter"):
        db.execute(f"CREATE VIRTUAL TABLE temp.{kind}_words USING fts5vocab(main, {kind}_text, instance)")
        words: dict[int, list[str]] = {}
        for term, passage in db.execute(f"SELECT term, doc FROM temp.{kind}_words"):
            words.setdefault(int(str(passage)), []).append(str(term))
        rows = db.execute(f"SELECT id, session, first, last, at, terms FROM {kind}").fetchall()
        found += sorted((kind, *row[1:], sorted(words.get(int(str(row[0])), []))) for row in rows)
    db.close()
    return found


async def test_what_was_said_since_the_last_search_is_found_by_the_next(store):
    first = talk("s1", "the heron builds a nest")
    await store.create(
        SessionRow(id="s1", source="cli", model="m", cwd="/", started=START), Batch(events=events_of(first)), ME
    )
    assert await find(store, "heron") == ["s1"] and await find(store, "kingfisher") == []
    later = events_of(talk("s1", "a kingfisher came by"), after=2)
    await store.append("s1", ME, Batch(events=later))
    assert await find(store, "kingfisher") == await find(store, "heron") == ["s1"]


async def test_a_session_is_found_by_its_title_and_by_a_new_one(store):
    await store_talks(store, [talk("s1", "hello there")])
    await store.rename("s1", "Gardening plans")
    assert await find(store, "garden plan") == ["s1"]
    await store.rename("s1", "Tax returns")
    assert await find(store, "tax") == ["s1"] and await find(store, "gardening") == []


async def test_phrases_and_minus_words_are_strict(store):
    await store_talks(
        store,
        [
            talk("s1", "the rounding bug cost us ten euros"),
            talk("s2", "a bug in the rounding of dates"),
            talk("s3", "the rounding bug of Bluefinch"),
        ],
    )
    assert set(await find(store, "rounding bug")) == {"s1", "s2", "s3"}
    assert set(await find(store, '"rounding bug"')) == {"s1", "s3"}
    assert await find(store, '"rounding bug" -bluefinch') == ["s1"]
    assert await find(store, "-bluefinch") == []


async def test_only_messages_of_the_wanted_role_count(store):
    await store_talks(store, [talk("s1", "a question about herons", "an answer about owls")])
    assert await find(store, "herons", roles=("user",)) == ["s1"]
    assert await find(store, "herons", roles=("assistant", "tool")) == []
    assert await find(store, "owls", roles=("assistant",)) == ["s1"]


async def test_days_bound_the_search_and_time_can_order_it(store):
    talks = [talk(f"s{n}", "news about the harbour", began=START + n * 24 * HOUR) for n in range(4)]
    await store_talks(store, talks)
    day = 24 * HOUR
    assert set(await find(store, "harbour", since=START + day, until=START + 3 * day)) == {"s1", "s2"}
    assert await find(store, "harbour", order="newest") == ["s3", "s2", "s1", "s0"]
    assert await find(store, "harbour", order="oldest", limit=2) == ["s0", "s1"]


async def test_a_question_that_names_a_day_finds_the_session_of_that_day(store):
    days = [time.mktime((2026, month, day, 12, 0, 0, 0, 0, -1)) for month, day in ((5, 4), (6, 4), (6, 20))]
    await store_talks(store, [talk(f"s{n}", "we went camping", began=began) for n, began in enumerate(days)])
    assert (await find(store, "when did we go camping in May?"))[0] == "s0"
    assert (await find(store, "the camping of June 4, 2026"))[0] == "s1"
    assert (await find(store, "camping on 20 June"))[0] == "s2"


async def test_a_chapter_that_says_a_thing_again_comes_before_one_that_says_it_once(store):
    await store_talks(
        store,
        [
            talk("a", "a heron", "an owl", "a wren"),
            talk("b", "a heron and an owl", "a heron and a wren", "the heron, heron"),
            talk("c", "an owl", "a wren", "a heron"),
        ],
    )
    await Search(store.index).catch_up()
    for kind, order in (("chapter", ["b", "a", "c"]), ("window", ["a", "b", "c"])):
        ranked = await store.index.rank(kind, Terms(any=("heron",)), 5)
        assert [found.session for found in ranked.found] == order


async def test_sessions_that_come_from_each_other_are_one_answer(store):
    await store_talks(store, [talk("root", "the lighthouse keeper is retired"), talk("other", "a lighthouse at sea")])
    opened = events_of(talk("fork", "unused"))[0]
    row = SessionRow(id="fork", source="cli", model="m", cwd="/", forked_from="root", started=START + HOUR)
    await store.fork("root", row, opened)
    names = await find(store, "lighthouse keeper")
    assert len(names) == 2 and names[0] in ("root", "fork") and names[1] == "other"
    assert await find(store, "lighthouse keeper", but="root") == ["fork", "other"]


async def test_jobs_of_cron_come_later_and_subagents_never(store):
    await store_talks(store, [talk("job", "the weather in Bergen is fine")], source="cron")
    await store_talks(store, [talk("child", "the weather in Bergen is fine")], source="subagent")
    await store_talks(store, [talk("mine", "what was said of the weather", "it was in Bergen that it rained")])
    assert await find(store, "weather in Bergen fine") == ["mine", "job"]


async def test_a_deleted_session_leaves_the_index(store):
    await store_talks(store, [talk("s1", "the heron"), talk("s2", "another heron")])
    assert set(await find(store, "heron")) == {"s1", "s2"}
    await store.delete(["s1"])
    assert await find(store, "heron") == ["s2"]
    assert {row[1] for row in contents(store.path)} == {2}


async def test_a_call_is_found_by_its_file(store):
    await store_talks(store, [talk("s1", "have a look", "# read_file web/components/CartSummary.tsx")])
    for query in ("CartSummary", "cart summary", "web/components/CartSummary.tsx"):
        assert await find(store, query) == ["s1"]


INERT = (
    'heron" OR "1"="1',
    "heron'); DROP TABLE events; --",
    "heron NEAR(x, 2)",
    "heron AND NOT heron",
    "{heron}: ^heron *",
    "window_text MATCH 'heron'",
    "heron\x00\x1b[2J",
    '"',
    "-",
    '-"',
    "* ( ) : ^ { } + -",
    "heron " * 2000,
)


@pytest.mark.parametrize("query", INERT)
async def test_syntax_in_a_question_is_only_text(store, query):
    await store_talks(store, [talk("s1", "a heron", query)])
    assert set(await find(store, query)) <= {"s1"}
    assert await find(store, "heron") == ["s1"]


async def test_nothing_that_attackers_write_is_syntax_either(store):
    lines = [text for row in CORPUS.read_text().splitlines() for text in _texts(msgspec.json.decode(row))]
    assert len(lines) > 50
    await store_talks(store, [talk(f"s{n}", line) for n, line in enumerate(lines)])
    await Search(store.index).catch_up()
    for line in lines[::5]:
        await Search(store.index).find(Wanted(text=line))
    assert len(await store.sessions(limit=10_000)) == len(lines)


def _texts(value: Any) -> list[str]:
    match value:
        case str():
            return [value]
        case dict():
            return [text for each in value.values() for text in _texts(each)]
        case list():
            return [text for each in value for text in _texts(each)]
        case _:
            return []


async def test_several_who_catch_up_at_once_make_one_index(store):
    await store_talks(store, [talk(f"s{n}", *(f"line {k} of talk {n}" for k in range(30))) for n in range(20)])
    await asyncio.gather(*(Search(store.index).catch_up() for _ in range(4)))
    together = contents(store.path)
    await store.index.clear()
    await Search(store.index).catch_up()
    assert contents(store.path) == together


async def test_a_search_without_time_to_catch_up_says_so_and_still_finds(store):
    await store_talks(store, [talk("s1", "the heron")])
    await Search(store.index).catch_up()
    await store_talks(store, [talk("s2", "a second heron")])
    search = Search(store.index)
    assert not await search.catch_up(seconds=-1)
    assert list(await store.index.behind()) == ["s2"]
    assert [match.hit.session for match in await search.find(Wanted(text="heron"))] == ["s1"]


async def test_a_message_as_long_as_a_book_does_not_hold_up_the_index(store):
    item = UserMessage(id="u", turn=1, step=1, index=0, parts=(Text("first " + "word " * 200_000 + "lastword"),))
    event = Event(session="s1", seq=1, at=START, body=ItemDone(item))
    await store.create(SessionRow(id="s1", source="cli", model="m", cwd="/", started=START), Batch(events=(event,)), ME)
    assert await find(store, "lastword") == ["s1"]
