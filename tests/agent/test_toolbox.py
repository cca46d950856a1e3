"""Tools that come and go: the prefix is byte-stable within a turn, and everything can be called at once."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec

from hermes.protocol.events import Changed, ItemDone, SessionClosed, TurnEnded, TurnStarted
from hermes.protocol.items import Text, ToolCall
from hermes.protocol.ops import Interrupt, Say
from hermes.protocol.tools import Tool
from tests.agent.stage import Recording, ScriptedModel, Step, answer, call, finish, play


class Market:
    """A supply whose tools a test puts there and takes away."""

    def __init__(self, *tools: Tool, hidden: Sequence[Tool] = ()) -> None:
        self.tools, self.hidden = list(tools), list(hidden)
        self.on_its_way: list[Tool] = []
        self.waits = 0

    async def settle(self) -> None:
        self.waits += 1
        self.tools += self.on_its_way

    def offered(self) -> Sequence[Tool]:
        return tuple(self.tools)

    def find(self, name: str) -> Tool | None:
        return next((tool for tool in (*self.tools, *self.hidden) if tool.spec.name == name), None)


def calling(name: str, word: str = "") -> Step:
    return call(name, msgspec.json.encode({"word": word}).decode()) + finish("calls")


def names(model: ScriptedModel) -> list[list[str]]:
    return [[spec.name for spec in request.tools] for request in model.requests]


async def test_a_tool_that_comes_during_a_turn_joins_the_prefix_at_the_next_one_and_can_be_called_at_once(
    tmp_path: Path,
):
    own, late = Recording("own"), Recording("late")
    market = Market()

    async def arrive() -> None:
        market.tools.append(late.tool)

    model = ScriptedModel([arrive, *calling("own")], calling("late", "early bird"), answer("one"), answer("two"))
    async with play(tmp_path, model, own.tool, supply=market) as stage:
        await stage.say("go")
        await stage.say("again")
    assert late.ran == ["early bird"]
    assert names(model) == [["own"], ["own"], ["own"], ["own", "late"]]
    assert [body.why for body in stage.of(Changed) if body.cause == "prefix"] == ["tools"]


async def test_the_first_turn_waits_for_what_is_on_its_way_and_later_ones_do_not(tmp_path: Path):
    market = Market()
    market.on_its_way = [Recording("coming").tool]
    model = ScriptedModel(answer("one"), answer("two"))
    async with play(tmp_path, model, supply=market) as stage:
        await stage.say("go")
        await stage.say("again")
    assert (names(model), market.waits) == ([["coming"], ["coming"]], 1)


async def test_a_tool_that_went_away_is_gone_from_the_next_turn_and_the_model_is_told_so(tmp_path: Path):
    gone = Recording("gone")
    market = Market(gone.tool)
    model = ScriptedModel(answer("one"), calling("gone"), answer("two"))
    async with play(tmp_path, model, supply=market) as stage:
        await stage.say("go")
        market.tools.clear()
        await stage.say("again")
    calls = [body.item for body in stage.of(ItemDone) if isinstance(body.item, ToolCall)]
    assert [item.result for item in calls] == [(Text("there is no tool 'gone'"),)]
    assert names(model) == [["gone"], [], []]


async def test_a_tool_that_the_model_was_not_told_of_runs_when_it_is_called_by_its_exact_name(tmp_path: Path):
    deferred = Recording("deferred")
    model = ScriptedModel(calling("deferred", "found"), answer("done"))
    async with play(tmp_path, model, supply=Market(hidden=[deferred.tool])) as stage:
        await stage.say("go")
    assert (deferred.ran, names(model)) == (["found"], [[], []])


async def test_our_own_tool_wins_over_one_of_the_same_name(tmp_path: Path):
    own, other = Recording("act"), Recording("act")
    model = ScriptedModel(calling("act"), answer("done"))
    async with play(tmp_path, model, own.tool, supply=Market(other.tool)) as stage:
        await stage.say("go")
    assert (len(own.ran), len(other.ran), names(model)) == (1, 0, [["act"], ["act"]])


async def test_an_interrupt_while_tools_are_waited_for_ends_the_turn_at_once(tmp_path: Path):
    class Slow(Market):
        async def settle(self) -> None:
            await asyncio.sleep(60)

    model = ScriptedModel()
    async with play(tmp_path, model, supply=Slow()) as stage:
        await stage.send(Say(parts=(Text("go"),)))
        await stage.until(lambda: stage.of(TurnStarted) != [])
        await stage.send(Interrupt())
        await stage.until(lambda: stage.of(TurnEnded) != [], seconds=1)
    assert (stage.of(TurnEnded), model.requests) == ([TurnEnded("interrupted")], [])


async def test_a_resumed_session_announces_other_tools_once_and_only_when_they_have_had_time_to_come(tmp_path: Path):
    first, second = Recording("first"), Recording("second")
    async with play(tmp_path, ScriptedModel(answer("one")), supply=Market(first.tool)) as stage:
        await stage.say("go")
    for market, breaks in ((Market(), []), (Market(), ["tools"])):
        market.on_its_way = [second.tool if breaks else first.tool]
        async with play(tmp_path, ScriptedModel(answer("two")), resume=stage.session.id, supply=market) as again:
            await again.until(lambda: again.of(SessionClosed) != [])
            before = len(again.of(Changed))
            await again.say("go on")
        assert [body.why for body in again.of(Changed)[before:] if body.cause == "prefix"] == breaks
