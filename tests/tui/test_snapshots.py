"""What the screen looks like, as SVG: HERMES_UPDATE_SNAPSHOTS=1 writes the pictures anew, to be looked at."""

import os
import re
import time
from pathlib import Path

import pytest
from textual.widgets import TextArea

import hermes
from hermes.protocol.events import Body, Event
from tests.tui.rig import Person, person
from tests.tui.scene import QUESTION, SCENE

PICTURES = Path(__file__).parent / "snapshots"
UPDATE = bool(os.environ.get("HERMES_UPDATE_SNAPSHOTS"))


async def perform(one: Person, *bodies: Body) -> None:
    """Let events come, and make what differs from run to run the same."""
    front = one.front
    front.banner.session, front.opened = "20260101_120000_abcdef", time.monotonic() - 330
    front.page.touch(front.banner)
    one.screen.query_one(TextArea).cursor_blink = False
    for body in bodies:
        front.see(Event(session=front.session.id, at=0.0, body=body))
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
