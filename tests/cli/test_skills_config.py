"""`hermes skills config`: which skills sessions see."""

import json
from pathlib import Path

import pytest

from tests.cli.command import Hermes, Ran
from tests.cli.terminal import terminal


def state(hermes: Hermes, name: str) -> str:
    rows = {line.split("\t")[0]: line.split("\t") for line in hermes("skills").out.splitlines()}
    return rows[name][3]


# The tokenizer package opens its own data in an old way.
@pytest.mark.filterwarnings("ignore:open_binary is deprecated:DeprecationWarning")
def test_a_skill_is_switched_off_and_on_by_name(hermes: Hermes) -> None:
    assert state(hermes, "plan-a-change") == "on"
    assert hermes("skills", "config", "plan-a-change", "off") == Ran(
        0, "11 of 12 skills on; sessions that begin from now on see them\n"
    )
    assert hermes.config.read_text() == "skills:\n  disabled:\n  - plan-a-change\n"
    assert (state(hermes, "plan-a-change"), hermes("skills").err) == ("off", "")
    before = hermes("prompt-size", "--json", "-m", "openai:gpt-6").out
    assert hermes("skills", "config", "plan-a-change", "on").out.startswith("12 of 12 skills on")
    after = hermes("prompt-size", "--json", "-m", "openai:gpt-6").out
    assert json.loads(before)["system"]["bytes"] < json.loads(after)["system"]["bytes"]
    assert hermes("skills", "config", "nothing", "off").code == 2
    assert hermes("skills", "config").err.startswith("hermes: there is no terminal to choose in (")


async def test_skills_are_switched_in_a_list(hermes: Hermes, tmp_path: Path) -> None:
    environ = hermes.environ | {"TERM": "xterm"}
    async with terminal(["-m", "hermes", "skills", "config"], environ, tmp_path) as there:
        await there.until("[x] plan-a-change")
        there.type("plan-a-ch\r")
        await there.until("[ ] plan-a-change")
        there.type("\x1b")
        await there.until("11 of 12 skills on")
        assert await there.end() == 0
    assert hermes.config.read_text() == "skills:\n  disabled:\n  - plan-a-change\n"
