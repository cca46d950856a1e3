"""What stands around the conversation: each command names an action for the screen, and refuses what is none."""

import pytest

from hermes.commands.registry import Outcome, Screen
from tests.agent.stage import ScriptedModel
from tests.commands.surface import person


@pytest.mark.parametrize(
    ("typed", "action"),
    [
        ("/timestamps", Screen("timestamps")),
        ("/ts ON", Screen("timestamps", "on")),
        ("/statusbar off", Screen("statusbar", "off")),
        ("/sb", Screen("statusbar")),
        ("/footer on", Screen("footer", "on")),
        ("/indicator", Screen("indicator")),
        ("/indicator Dots", Screen("indicator", "dots")),
        ("/paste", Screen("paste")),
        ("/prompt", Screen("compose")),
        ("/compose Dear sir,", Screen("compose", "Dear sir,")),
    ],
)
async def test_a_command_names_what_the_screen_does(tmp_path, typed, action):
    async with person(tmp_path, ScriptedModel()) as me:
        assert await me.types(typed) == Outcome(screen=action)


@pytest.mark.parametrize(
    ("typed", "line"),
    [
        ("/footer maybe", "'maybe' is neither on nor off (/footer, /footer on or /footer off)"),
        ("/indicator clown", "there is no indicator 'clown' (/indicator skin|dots|ascii)"),
    ],
)
async def test_what_cannot_be_done_is_one_line(tmp_path, typed, line):
    async with person(tmp_path, ScriptedModel()) as me:
        assert await me.reply(typed) == line


async def test_what_can_be_chosen_is_offered(tmp_path):
    async with person(tmp_path, ScriptedModel()) as me:
        offers = {
            name: await me.registry.find(name, "terminal").complete(me, "") for name in ("ts", "indicator", "goal")
        }
        assert {name: [each.text for each in some] for name, some in offers.items()} == {
            "ts": ["on", "off"],
            "indicator": ["skin", "dots", "ascii"],
            "goal": ["show", "pause", "resume", "clear"],
        }
