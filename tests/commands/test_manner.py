"""How the model thinks and speaks, each against a real session."""

import pytest

from hermes import config
from hermes.commands.registry import Outcome, Screen
from hermes.protocol.ops import Configure
from tests.agent.stage import ScriptedModel
from tests.commands.surface import person


async def test_reasoning_changes_how_long_the_model_thinks(tmp_path):
    async with person(tmp_path, ScriptedModel()) as me:
        assert (await me.reply("/reasoning")).startswith(
            "Thinking: as the model is used to. Levels: none, minimal, low"
        )
        said = await me.reply("/reasoning High")
        assert said.startswith("Thinking: high, from the next step on. `/reasoning high --global`")
        await me.stage.until(lambda: me.session.effort == "high")
        assert (await me.reply("/reasoning")).startswith("Thinking: high.")
        [op] = (await me.types("/reasoning default")).ops
        assert isinstance(op, Configure)
        assert op.effort == ""


@pytest.mark.parametrize(
    ("typed", "said"),
    [("hihg", "there is no level 'hihg' (did you mean high?)"), ("zz", "there is no level 'zz' (choose from none, ")],
)
async def test_a_level_that_is_not_there_is_one_line_with_the_nearest(tmp_path, typed, said):
    async with person(tmp_path) as me:
        assert (await me.reply(f"/reasoning {typed}")).startswith(said)


async def test_thoughts_are_shown_and_hidden_by_the_screen(tmp_path):
    async with person(tmp_path) as me:
        assert await me.types("/reasoning show") == Outcome(screen=Screen("details", "thoughts open"))
        assert await me.types("/reasoning hide") == Outcome(screen=Screen("details", "thoughts hidden"))
        assert await me.types("/reasoning full") == Outcome(screen=Screen("details", "thoughts open"))
        assert await me.types("/reasoning clamp") == Outcome(screen=Screen("details", "thoughts folded"))


async def test_fast_thinks_as_little_as_the_model_can_and_as_usual_again(tmp_path):
    async with person(tmp_path, ScriptedModel(), settings="agent: {reasoning_effort: high}\n") as me:
        assert await me.reply("/fast") == "Thinking: as little as the model can. `/fast` again: high."
        await me.stage.until(lambda: me.session.effort == "minimal")
        assert await me.reply("/fast") == "Thinking: high."
        await me.stage.until(lambda: me.session.effort == "high")
        assert await me.reply("/fast off") == "Thinking: high."
        assert await me.reply("/fast very") == "'very' is neither on nor off (/fast, /fast on or /fast off)"


async def test_global_keeps_the_level_for_every_new_session(tmp_path):
    async with person(tmp_path) as me:
        assert "Kept as `agent.reasoning_effort`" in await me.reply("/reasoning low --global")
        assert me.app.settings.file.agent.reasoning_effort == "low"
        stored = config.read_yaml(tmp_path / "home" / "config.yaml")
        assert stored["agent"] == {"reasoning_effort": "low"}


async def test_a_personality_joins_the_system_text_and_leaves_it_again(tmp_path):
    own = "personalities: {butler: {system_prompt: You are a butler., tone: dry}}\n"
    async with person(tmp_path, ScriptedModel(), settings=own) as me:
        plain = me.session.system
        assert (await me.reply("/personality")).endswith(" hype, butler, and none.")
        assert (await me.reply("/personality Butler")).startswith("Personality: butler. ")
        await me.stage.until(lambda: "You are a butler." in me.session.system)
        assert (await me.reply("/personality")).startswith("Personality: butler.")
        assert (await me.reply("/personality neutral")).startswith("Personality: none. ")
        await me.stage.until(lambda: me.session.system == plain)
        assert await me.types("/personality pirat") == Outcome(
            reply="there is no personality 'pirat' (did you mean pirate?)"
        )


async def test_what_can_be_chosen_is_offered(tmp_path):
    async with person(tmp_path) as me:
        offered = {
            name: await me.registry.find(name, "terminal").complete(me, "") for name in ("reasoning", "personality")
        }
        assert [each.text for each in offered["reasoning"]][-5:] == ["default", "show", "hide", "full", "clamp"]
        assert [each.text for each in offered["personality"]][-2:] == ["hype", "none"]
