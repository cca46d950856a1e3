"""Help, and what the screen is told to do."""

import pytest

from hermes.commands.builtin import BUILTIN
from hermes.commands.registry import Outcome, Screen
from tests.agent.stage import ScriptedModel, answer
from tests.commands.surface import person


async def test_help_lists_every_command_of_the_surface(tmp_path):
    async with person(tmp_path) as me:
        lines = (await me.reply("/help")).splitlines()
        assert len(lines) == len(BUILTIN) + 2
        assert "- `/undo [N]`: take back the last exchange, or the last N" in lines
        me.surface = "chat"
        assert not [line for line in (await me.reply("/help")).splitlines() if "/quit" in line]


async def test_help_tells_about_one_command(tmp_path):
    async with person(tmp_path) as me:
        line = "`/quit [--delete]` (also `/exit`): leave; the session can be resumed, unless it is deleted"
        assert [await me.reply(f"/help {name}") for name in ("quit", "/exit", "qui")] == [line] * 3
        assert await me.reply("/help qit") == "there is no command /qit (did you mean /quit?)"


@pytest.mark.parametrize(
    ("typed", "screen"),
    [
        ("/clear now", Screen("clear")),
        ("/exit", Screen("quit")),
        ("/redraw", Screen("redraw")),
        ("/details tools folded", Screen("details", "tools folded")),
        ("/details Thoughts  OPEN", Screen("details", "thoughts open")),
        ("/skin", Screen("skin")),
        ("/skin ares", Screen("skin", "ares")),
        ("/verbose", Screen("verbose")),
        ("/verbose all", Screen("verbose", "all")),
        ("/busy", Screen("busy")),
        ("/busy steer", Screen("busy", "steer")),
    ],
)
async def test_some_things_are_for_the_screen_to_do(tmp_path, typed, screen):
    async with person(tmp_path) as me:
        assert await me.types(typed) == Outcome(screen=screen)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("/details", "`/details PART STATE: thoughts, tools, subagents, activity; hidden, folded, open`"),
        ("/details tool open", "'tool' is none of thoughts, tools, subagents, activity (did you mean tools?)"),
        ("/details tools", "one of hidden, folded, open is missing (/details PART STATE: "),
        ("/verbose loud", "'loud' is none of off, new, all, verbose (/verbose off|new|all|verbose)"),
        ("/busy que", "'que' is none of interrupt, queue, steer (did you mean queue?)"),
        ("/skin --global", "what should be kept? (name it before --global)"),
    ],
)
async def test_a_wrong_word_is_one_line_and_nothing_for_the_screen(tmp_path, typed, said):
    async with person(tmp_path) as me:
        outcome = await me.types(typed)
        assert (outcome.reply.startswith(said), outcome.screen) == (True, None)


async def test_global_keeps_how_the_screen_is(tmp_path):
    async with person(tmp_path) as me:
        outcome = await me.types("/busy queue --global")
        kept = "Kept as `display.busy_input_mode` for every new session."
        assert outcome == Outcome(reply=kept, screen=Screen("busy", "queue"))
        assert "busy_input_mode: queue" in (tmp_path / "home" / "config.yaml").read_text()


async def test_copy_takes_the_last_answer_or_one_before(tmp_path):
    async with person(tmp_path, ScriptedModel(answer("one"), answer("two"))) as me:
        assert await me.reply("/copy") == "there is no answer yet (/copy takes the last one)"
        for words in ("first", "second"):
            await me.stage.say(words)
        assert await me.types("/copy") == Outcome(screen=Screen("copy", "two"))
        assert await me.types("/copy 2") == Outcome(screen=Screen("copy", "one"))
        assert await me.reply("/copy 3") == "there are only 2 answers (/copy takes the last one)"


async def test_parts_and_states_are_offered_one_after_the_other(tmp_path):
    async with person(tmp_path) as me:
        complete = me.registry.find("details", "terminal").complete
        assert [each.text for each in await complete(me, "to")] == ["thoughts", "tools", "subagents", "activity"]
        assert [(each.text, each.start) for each in await complete(me, "tools o")] == [
            ("hidden", 6),
            ("folded", 6),
            ("open", 6),
        ]


async def test_a_session_is_deleted_as_one_leaves_only_after_a_question(tmp_path):
    async with person(tmp_path) as me:
        asked = me.registry.read("/quit --delete", "terminal")
        assert asked is not None and asked.question == "Leave, and delete this session for good?"
        assert await me.types("/quit --delete now") == Outcome(screen=Screen("quit", me.session.id))
        assert await me.types("/quit --dlete") == Outcome(
            reply="/quit does not know '--dlete' (/quit, or /quit --delete to keep nothing of this session)"
        )
