"""Insights, computed from a real store."""

import time

import msgspec
import pytest

from hermes.commands.insights import Called, Used, gather, sections
from hermes.commands.width import places
from hermes.protocol.errors import UserError
from hermes.protocol.models import Tokens
from tests.agent.stage import ScriptedModel, call, finish, play, text
from tests.commands.surface import person

USED = Tokens(input=1000, output=50, cache_read=800, reasoning=10)
NOTHING = Used(name="", calls=0, input=0, output=0, cache_read=0, cache_write=0, reasoning=0, cost=0.0, unpriced=0)


def used(name: str, calls: int = 2, cost: float = 0.75) -> Used:
    return Used(
        name=name,
        calls=calls,
        input=1000 * calls,
        output=50 * calls,
        cache_read=800 * calls,
        cache_write=0,
        reasoning=10 * calls,
        cost=cost,
        unpriced=0,
    )


async def test_insights_tell_what_was_used_by_day_model_platform_session_and_tool(tmp_path):
    model = ScriptedModel(call("todo") + finish("calls", USED, 0.25), text("hi") + finish(tokens=USED, cost=0.5))
    async with person(tmp_path, model) as me:
        await me.stage.say("the garden")
        found = await gather(me.app.store, 3)
        today = time.strftime("%Y-%m-%d")
        assert (found.sessions, found.messages, found.total) == (1, 2, used(""))
        assert found.by_day[:2] == tuple(msgspec.structs.replace(NOTHING, name=day.name) for day in found.by_day[:2])
        assert found.by_day[2] == used(today)
        assert (found.since, found.by_day[0].name) == (found.by_day[0].name, found.since)
        assert found.by_model == (used("scripted"),)
        assert found.by_platform == (used("cli"),)
        assert found.by_purpose == (used("conversation"),)
        assert found.by_session == (used("the garden"),)
        assert [(tool.name, tool.calls) for tool in found.tools] == [("todo", 1)]
        assert (sum(found.hours), len(found.hours)) == (1, 24)


async def test_insights_of_one_source_leave_the_others_out(tmp_path):
    async with play(tmp_path, ScriptedModel(text("hi") + finish(tokens=USED, cost=0.5)), source="cron") as stage:
        await stage.say("go")
        assert (await gather(stage.store, 1, "cron")).total == used("", 1, 0.5)
        other = await gather(stage.store, 1, "telegram")
        assert (other.sessions, other.total, sections(other, 60)) == (
            0,
            NOTHING,
            [("Today from telegram", ["Nothing was asked."])],
        )


async def test_what_was_used_long_ago_does_not_count(tmp_path):
    async with play(tmp_path, ScriptedModel(text("hi") + finish(tokens=USED))) as stage:
        await stage.say("go")
        later = time.time() + 10 * 86_400
        assert (await gather(stage.store, 5, now=later)).total == NOTHING
        assert (await gather(stage.store, 20, now=later)).total.calls == 1


async def test_the_share_of_reviews_is_their_part_of_all_tokens(tmp_path):
    async with play(tmp_path, ScriptedModel()) as stage:
        found = await gather(stage.store, 1)
        assert found.review_share == 0.0
        review = msgspec.structs.replace(
            found, total=used("", 4), by_purpose=(used("conversation", 3), used("review", 1)), sessions=1
        )
        assert review.review_share == 0.25
        assert "reviews     25.0% of the tokens" in sections(review, 60)[0][1]


@pytest.mark.parametrize("width", [34, 56, 100])
async def test_insights_fit_the_screen(tmp_path, width):
    async with play(tmp_path, ScriptedModel()) as stage:
        empty = await gather(stage.store, 30)
    found = msgspec.structs.replace(
        empty,
        sessions=3,
        messages=9,
        total=used("", 20, 3.2),
        by_model=tuple(used(f"anthropic:a-model-with-a-long-name-{n}", 20 - n) for n in range(12)),
        tools=(Called("terminal", 40, 3, 9.0), Called("read_file", 12, 0, 0.1)),
        hours=(0,) * 14 + (3,) + (0,) * 9,
    )
    shown = sections(found, width)
    plots = [line for _, lines in shown[1:] for line in lines]
    assert all(places(line) <= width for line in plots)
    assert [head for head, _ in shown] == [
        "Last 30 days",
        "Tokens a day",
        "Tokens by model",
        "Tool calls",
        "Hours at which sessions began",
    ]
    assert shown[2][1][-1].startswith("4 more")
    assert shown[3][1][0].startswith("terminal") and shown[3][1][0].endswith(" 40, 3 failed")
    assert shown[4][1][-1] == "busiest: 14:00, 3 sessions"


async def test_the_command_takes_days_in_both_ways(tmp_path):
    async with person(tmp_path, ScriptedModel(text("hi") + finish(tokens=USED, cost=0.5))) as me:
        await me.stage.say("the garden")
        assert (await me.reply("/insights")).startswith("**Last 30 days**\n```text\nsessions    1\n")
        assert (await me.reply("/insights 7")).startswith("**Last 7 days**\n")
        assert (await me.reply("/insights --days 7")).startswith("**Last 7 days**\n")
        assert (await me.reply("/insights --days=1")).startswith("**Today**\n")
        assert await me.reply("/insights x") == "'x' is not a number from 1 on (for example /insights 7)"
        assert await me.reply("/insights 99999") == "99,999 days are more than Hermes looks at (at most 3,660)"
        with pytest.raises(UserError):
            await gather(me.app.store, 10**9)
