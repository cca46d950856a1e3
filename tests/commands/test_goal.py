"""What /goal says and refuses."""

import pytest

from hermes.agent.goal import Goal
from hermes.commands.registry import Outcome
from hermes.protocol.ops import Say
from tests.agent.stage import ScriptedModel, answer
from tests.commands.surface import person


async def test_a_goal_is_set_shown_paused_and_cleared(tmp_path):
    model = ScriptedModel(answer("The walls stand."), answer("REACHED: done"))
    async with person(tmp_path, model) as me:
        outcome = await me.types("/goal build  a\nhouse")
        [say] = outcome.ops
        assert outcome == Outcome(ops=(say,)) and isinstance(say, Say) and say.origin == "person"
        await me.stage.until(lambda: me.session.history.goal == Goal("build a house", "reached"))
        shown = "Goal (reached, went on by itself 0 of 20 times): build a house"
        assert [await me.reply(f"/goal{word}") for word in ("", " show", " STATUS")] == [shown] * 3
        assert await me.reply("/goal pause") == "the goal is not active (/goal shows it)"
        assert await me.types("/goal clear") == Outcome()
        assert await me.reply("/goal") == "There is no goal. `/goal TEXT` sets one and starts to work on it."


@pytest.mark.parametrize("word", ["pause", "resume", "clear"])
async def test_without_a_goal_there_is_nothing_to_change(tmp_path, word):
    async with person(tmp_path, ScriptedModel()) as me:
        assert await me.reply(f"/goal {word}") == "there is no goal (/goal TEXT sets one)"


async def test_the_status_tells_the_goal(tmp_path):
    async with person(tmp_path, ScriptedModel(answer("ok"), answer("REACHED"))) as me:
        assert "- goal (" not in await me.reply("/status")
        await me.types("/goal build a house")
        await me.ended(1)
        assert "- goal (" in await me.reply("/status")
