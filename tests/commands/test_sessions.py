"""Commands about sessions, each against a real one."""

import re

from hermes.commands.registry import Outcome, Screen
from hermes.protocol.models import Tokens
from tests.agent.stage import ScriptedModel, answer, call, finish, text
from tests.commands.surface import person

USED = Tokens(input=1200, output=34, cache_read=1000, cache_write=50, reasoning=7)


async def test_status_tells_what_goes_on(tmp_path):
    async with person(tmp_path, ScriptedModel(text("hi") + finish(tokens=USED))) as me:
        await me.stage.say("hello there")
        assert (await me.reply("/status")).splitlines() == [
            f"Session `{me.session.id}`, hello there",
            "- model: `scripted`",
            f"- folder: `{tmp_path}/work`",
            "- state: idle after turn 1",
            f"- context: {me.session.history.context_estimate():,} of 100,000 tokens (1%)",
            f"- tools: {len(me.session.tools)}",
            "- budget of a turn: 90 steps",
            "- questions: on",
        ]


async def test_usage_tells_what_was_used(tmp_path):
    model = ScriptedModel(call("todo") + finish("calls", USED, 0.25), text("hi") + finish(tokens=USED, cost=0.5))
    async with person(tmp_path, model) as me:
        await me.stage.say("hello")
        lines = (await me.reply("/usage")).splitlines()
        assert lines[:3] == [
            "- tokens in: 2,400 (cache: 2,000 read, 100 written)",
            "- tokens out: 68 (thinking: 14)",
            "- cost: $0.7500",
        ]
        assert lines[4:] == ["- model calls: 2, tool calls: 1, turns: 1", "- duration: 0 s"]


async def test_a_price_that_is_not_known_is_no_zero(tmp_path):
    model = ScriptedModel(answer("a"), text("b") + finish(cost=0.5))
    async with person(tmp_path, model) as me:
        await me.stage.say("hello")
        assert "- cost: not known" in await me.reply("/usage")
        await me.stage.say("hello")
        assert "- cost: $0.5000 and 1 calls of unknown price" in await me.reply("/usage")


async def test_sessions_lists_the_latest_first_and_resume_names_one(tmp_path):
    async with person(tmp_path, ScriptedModel()) as first:
        await first.stage.say("the garden")
        name = first.session.id
    async with person(tmp_path, ScriptedModel()) as me:
        await me.stage.say("the kitchen")
        listed = await me.types("/sessions")
        assert listed.screen is not None
        assert (listed.screen.action, listed.reply) == ("sessions", "")
        lines = listed.screen.data.splitlines()
        assert re.fullmatch(rf"- `{me.session.id}` the kitchen, 2 messages, \S+ \S+ \(this one\)", lines[0])
        assert re.fullmatch(rf"- `{name}` the garden, 2 messages, \S+ \S+", lines[1])
        assert (await me.reply("/sessions 1")).splitlines() == [lines[0], "", lines[3]]
        assert await me.types("/resume") == listed
        assert await me.types("/resume the garden") == Outcome(screen=Screen("resume", name))
        assert await me.types(f"/resume {name}") == Outcome(screen=Screen("resume", name))
        assert await me.reply("/resume the attic") == "there is no session 'the attic' (/sessions lists them)"
        assert await me.reply("/resume the kitchen") == "that is this session (/sessions lists the others)"


async def test_history_shows_the_last_exchanges_cut_to_a_few_lines(tmp_path):
    model = ScriptedModel(answer("one"), answer("a\nb\nc\nd"), answer("x" * 300))
    async with person(tmp_path, model) as me:
        assert await me.reply("/history") == "Nothing was said yet."
        for words in ("first", "second", "third"):
            await me.stage.say(words)
        assert (await me.reply("/history 2")).split("\n\n") == [
            "**You:** second",
            "**Hermes:** a\nb\nc…",
            "**You:** third",
            f"**Hermes:** {'x' * 199}…",
        ]
        await me.types("/undo 2 now")
        await me.stage.until(lambda: len(me.session.history.view()) == 2)
        assert await me.reply("/history") == "**You:** first\n\n**Hermes:** one"
