"""What the screen looks like, as SVG: HERMES_UPDATE_SNAPSHOTS=1 writes the pictures anew, to be looked at."""

import os
import re
import time
from pathlib import Path

import pytest
from textual.widgets import TextArea

import hermes
from hermes.app import Wish
from hermes.protocol.events import Body, Event
from hermes.tui import screen
from hermes.tui.conversations import Entry
from hermes.tui.status import Facts, Work
from hermes.tui.switcher import Switcher
from tests.services.script import Reply
from tests.tui.rig import Person, person
from tests.tui.scene import ANSWER, QUESTION, SCENE

PICTURES = Path(__file__).parent / "snapshots"
UPDATE = bool(os.environ.get("HERMES_UPDATE_SNAPSHOTS"))


@pytest.fixture(autouse=True)
def standing_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Figures change when a test says so."""
    monkeypatch.setattr(screen, "TICK", 1000.0)


async def perform(one: Person, *bodies: Body) -> None:
    """Let events come, and make what differs from run to run the same."""
    front = one.front
    front.banner.session, front.opened = "20260101_120000_abcdef", time.monotonic() - 330
    front.page.touch(front.banner)
    one.screen.query_one(TextArea).cursor_blink = False
    for body in bodies:
        front.see(Event(session=front.session.id, at=0.0, body=body))
    one.desk.changed(front)
    one.screen.transcript.draw()
    await one.pilot.pause(0.1)


def compare(one: Person, name: str) -> None:
    drawn = one.screen.export_screenshot(title="Hermes", simplify=True)
    drawn = re.sub(r"terminal-\d+", "terminal", drawn).replace(hermes.__version__, "1.2.3")
    path = PICTURES / f"{name}.svg"
    if UPDATE:
        path.parent.mkdir(exist_ok=True)
        path.write_text(drawn)
    assert drawn == path.read_text(), f"{name} looks different; HERMES_UPDATE_SNAPSHOTS=1 makes the picture anew"


@pytest.mark.parametrize("columns", [60, 100, 160])
async def test_a_conversation_looks_as_it_did(tmp_path, columns):
    async with person(tmp_path, size=(columns, 60)) as one:
        await perform(one, *SCENE)
        compare(one, f"conversation-{columns}")


@pytest.mark.parametrize("columns", [60, 100, 160])
async def test_a_question_looks_as_it_did(tmp_path, columns):
    async with person(tmp_path, size=(columns, 24)) as one:
        await perform(one, *SCENE[:3], QUESTION)
        await one.sees("rm -r build", "n  no")
        compare(one, f"question-{columns}")


async def test_daylight_looks_as_it_did(tmp_path):
    async with person(tmp_path, size=(100, 60), settings="display: {skin: daylight, details: {tools: open}}\n") as one:
        await perform(one, *SCENE)
        compare(one, "daylight-100")


@pytest.mark.parametrize("columns", [60, 100, 160])
async def test_the_list_of_sessions_looks_as_it_did(tmp_path, columns):
    async with person(tmp_path, size=(columns, 24)) as one:
        await perform(one, *SCENE[:3])
        entries = [
            Entry(one.front.session.id, "Let greet() take a name, and test it.", "●"),
            Entry("2", "A session that waits for an answer, with a title that is much too long for one line", "?"),
            Entry("3", "An older one", age="3h"),
        ]
        one.screen.push_screen(Switcher(entries, one.front.session.id))
        await one.sees("An older one", "+  a new session")
        compare(one, f"sessions-{columns}")


@pytest.mark.parametrize("columns", [60, 100, 160])
async def test_a_resumed_session_looks_as_it_did(tmp_path, columns):
    async with person(tmp_path, [Reply(ANSWER)]) as one:
        await one.says("Let greet() take a name, and test it.", "Nothing else was changed.")
        session = one.front.session.id
    async with person(tmp_path, wish=Wish(cwd=str(tmp_path / "work"), resume=session), size=(columns, 24)) as one:
        await perform(one)
        compare(one, f"resumed-{columns}")


@pytest.mark.parametrize("columns", [60, 100, 160])
async def test_the_figures_look_as_they_did(tmp_path, columns):
    facts = Facts(
        model="openrouter:some-vendor/a-model-with-a-long-name",
        used=123_000,
        size=128_000,
        cost=1.2345,
        seconds=4000,
        servers=(2, 3),
        background=2,
        sessions=3,
        asking=1,
    )
    async with person(tmp_path, size=(columns, 12)) as one:
        await perform(one)
        one.screen.activity.show(Work(since=0.0, tool="terminal", queued=2))
        one.screen.activity._clock = lambda: 12.0
        one.screen.status.facts = facts
        await one.sees("terminal … 12 s, 2 queued", "96%")
        compare(one, f"figures-{columns}")
