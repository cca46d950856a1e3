"""`hermes sessions search`: what was said is found again, by people and by programs."""

import asyncio
import json
from pathlib import Path

import pytest

from hermes.learning.recall.quotes import when
from hermes.store.sqlite import SqliteStore
from tests.cli.command import Hermes, Ran
from tests.learning.recall.corpus import START, Talk, store_talks

TALKS = [
    Talk(
        "20251009_085320_aaaaaa", "Birds", START, ("where does the heron nest?", "In the reeds, from May on.", "thanks")
    ),
    Talk("20251010_085320_bbbbbb", "Boats", START + 86_400, ("the boat is called Heron too", "A good name.")),
]

SECOND_DAY = when(START + 86_400)[:10]


@pytest.fixture
def hermes(tmp_path: Path) -> Hermes:
    hermes = Hermes(tmp_path)
    asyncio.run(_keep(hermes))
    return hermes


async def _keep(hermes: Hermes) -> None:
    async with SqliteStore(hermes.home / "state.db") as store:
        await store_talks(store, TALKS)


def found(ran: Ran) -> list[str]:
    return [line.split()[0] for line in ran.out.splitlines() if line.startswith("2025")]


def test_a_session_is_shown_with_its_day_its_title_and_what_was_said(hermes: Hermes) -> None:
    ran = hermes("sessions", "search", "heron", "nest")
    assert found(ran) == [TALKS[0].name, TALKS[1].name]
    head, said, *_ = ran.out.splitlines()
    assert head == f"{TALKS[0].name}  {when(START)}  Birds {TALKS[0].name}"
    assert said == "  user: where does the heron nest?"


def test_a_program_gets_one_json_line_for_each(hermes: Hermes) -> None:
    lines = [
        json.loads(line) for line in hermes("sessions", "search", "nest", "--json", "--limit", "1").out.splitlines()
    ]
    [hit] = lines
    assert (hit["session"], hit["snippet"], hit["messages"]) == (TALKS[0].name, "where does the heron nest?", 3)
    assert [(each["role"], each["text"]) for each in hit["around"]] == [
        ("user", "where does the heron nest?"),
        ("assistant", "In the reeds, from May on."),
        ("user", "thanks"),
    ]
    assert hit["message"] == hit["around"][0]["id"]


def test_order_role_and_days_narrow_it_down(hermes: Hermes) -> None:
    assert found(hermes("sessions", "search", "heron", "--sort", "newest")) == [TALKS[1].name, TALKS[0].name]
    assert found(hermes("sessions", "search", "heron", "--after", SECOND_DAY)) == [TALKS[1].name]
    assert found(hermes("sessions", "search", "heron", "--before", SECOND_DAY)) == [TALKS[0].name]
    assert found(hermes("sessions", "search", "reeds", "--role", "assistant")) == [TALKS[0].name]
    assert found(hermes("sessions", "search", "heron -nest")) == [TALKS[1].name]


def test_what_is_not_there_and_what_is_wrong_is_told_in_one_line(hermes: Hermes) -> None:
    nothing = hermes("sessions", "search", "pelican")
    assert (nothing.code, nothing.out, nothing.err.count("\n")) == (1, "", 1)
    for args in (("--after", "May"), ("--role", "bot"), ("--limit", "0")):
        wrong = hermes("sessions", "search", "heron", *args)
        assert wrong.code != 0 and wrong.err.count("\n") == 1


def test_the_index_is_made_anew(hermes: Hermes) -> None:
    assert hermes("sessions", "reindex") == Ran(0, "indexed 5 messages\n")
    assert found(hermes("sessions", "search", "reeds")) == [TALKS[0].name]
