"""`hermes replay`: a stored session's events once more."""

import asyncio
import time

import pytest

from hermes.protocol.events import SessionClosed, SessionOpened
from hermes.protocol.wire import decode_event, encode_event
from tests.cli.command import Hermes, Ran
from tests.cli.stories import store_story, story

ONE = "20260921_120000_aaaaaa"


def test_json_prints_every_event_as_it_is_stored(hermes: Hermes) -> None:
    events = asyncio.run(store_story(hermes.home, ONE, story()))
    lines = [encode_event(event).decode() for event in events]
    assert hermes.process("replay", ONE, "--json") == Ran(0, "".join(f"{line}\n" for line in lines))
    assert hermes("--json", "replay", ONE).out.splitlines() == lines


def test_a_session_longer_than_a_page_is_replayed_whole(hermes: Hermes) -> None:
    opened = SessionOpened(source="cli", model="m", cwd="/", version="1")
    asyncio.run(store_story(hermes.home, ONE, [(0, opened), *[(0, SessionClosed(str(n))) for n in range(2500)]]))
    lines = hermes("replay", ONE, "--json").out.splitlines()
    assert [decode_event(line.encode()).seq for line in lines] == list(range(1, 2502))


def test_a_person_sees_what_a_live_chat_would_have_shown(hermes: Hermes) -> None:
    asyncio.run(store_story(hermes.home, ONE, story()))
    ran = hermes("replay", ONE)
    assert ran.code == 0
    assert "It says hello." in ran.out
    assert "a.txt" in ran.out


@pytest.mark.parametrize(
    ("args", "least", "most"), [(("--speed", "4"), 0.5, 1.9), (("--fast",), 0.0, 1.9), ((), 0.0, 1.9)]
)
def test_pauses_are_kept_in_proportion_or_left_out(
    hermes: Hermes, args: tuple[str, ...], least: float, most: float
) -> None:
    events = asyncio.run(store_story(hermes.home, ONE, story()))
    assert events[-1].at - events[0].at == pytest.approx(2.0)
    start = time.monotonic()
    assert hermes("replay", ONE, "--json", *args).code == 0
    assert least <= time.monotonic() - start < most


def test_wrong_usage_is_one_line(hermes: Hermes) -> None:
    asyncio.run(store_story(hermes.home, ONE, story()))
    assert (
        hermes("replay", ONE, "--speed", "0").err == "hermes: --speed must be above 0 (--fast leaves the pauses out)\n"
    )
    assert hermes("replay", "nobody").err == "hermes: there is no session 'nobody' (hermes sessions list shows them)\n"
    assert "not allowed with" in hermes("replay", ONE, "--speed", "2", "--fast").err
