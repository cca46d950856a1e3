"""The nine promises of the core, each with a test of its name. Those that need real processes are in tests/cli too."""

import asyncio
import json
import subprocess
import sys
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from hermes.agent.budget import Meter
from hermes.agent.history import History
from hermes.agent.session import Session, read_history
from hermes.protocol.errors import Disconnected, UserError
from hermes.protocol.events import (
    Answered,
    Asked,
    Changed,
    ItemDelta,
    ItemDone,
    ItemStarted,
    Notice,
    Question,
    Secret,
    TurnEnded,
    TurnStarted,
)
from hermes.protocol.items import Reply, Summary, Text, ToolCall, UserMessage
from hermes.protocol.models import Began, Ended, Finished, Grew, Tokens
from hermes.protocol.ops import Answer, Budget, Configure, Interrupt, Rewind, Say
from hermes.protocol.tools import said
from hermes.store.sqlite import SqliteStore
from tests.agent.stage import Play, Recording, ScriptedModel, answer, call, finish, make_tool, options, play, text


async def forever() -> None:
    await asyncio.sleep(3600)


def balanced(bodies) -> bool:
    """Every TurnStarted has one TurnEnded, every ItemStarted one ItemDone, every Asked one Answered; messages and summaries are born whole."""
    started = [b.item.id for b in bodies if isinstance(b, ItemStarted)]
    done = [b.item.id for b in bodies if isinstance(b, ItemDone) and not isinstance(b.item, UserMessage | Summary)]
    asked = [b.request_id for b in bodies if isinstance(b, Asked)]
    answered = [b.request_id for b in bodies if isinstance(b, Answered)]
    turns = [type(b) for b in bodies if isinstance(b, TurnStarted | TurnEnded)]
    return (
        sorted(started) == sorted(done) and asked == answered and turns == [TurnStarted, TurnEnded] * (len(turns) // 2)
    )


ENDINGS = {
    "done": lambda: ScriptedModel(text("x") + call("act", "{}", 1) + finish("calls"), answer("y")),
    "failed in the middle": lambda: ScriptedModel([Began(0, "text"), Grew(0, "x"), Disconnected("cut")]),
    "failed between calls": lambda: ScriptedModel(call("act") + finish("calls"), [ZeroDivisionError()]),
    "cut call": lambda: ScriptedModel(call("act") + finish("length"), answer("y")),
    "steps": lambda: ScriptedModel(*[call("act") + finish("calls") for _ in range(9)]),
    "interrupted in text": lambda: ScriptedModel([Began(0, "text"), Grew(0, "so far"), forever]),
    "interrupted in a call's arguments": lambda: ScriptedModel(
        [Began(0, "call", "c", "act"), Grew(0, '{"wo'), forever]
    ),
    "interrupted in a tool": lambda: ScriptedModel(call("hang") + call("act", "{}", 1) + finish("calls")),
    "interrupted in a question": lambda: ScriptedModel(call("ask") + finish("calls")),
}


async def hang(ctx, args):
    ctx.emit("output", "working\n")
    await forever()
    return said("never")


async def question(ctx, args):
    answered = await ctx.ask(Question("really?"), 60)
    return said(answered.text)


TOOLS = make_tool("hang", hang), make_tool("ask", question)


@pytest.mark.parametrize("ending", ENDINGS)
async def test_promise_1_every_start_has_one_end(tmp_path, ending, caplog):
    model = ENDINGS[ending]()
    async with play(tmp_path, model, Recording().tool, *TOOLS, budget=Budget(steps=5)) as stage:
        if ending.startswith("interrupted"):
            await stage.session.send(Say(parts=(Text("go"),)))
            # What a call grows by may come with its end, in one event.
            await stage.until(lambda: bool(stage.of(Asked if "question" in ending else ItemDelta)))
            await stage.send(Interrupt())
            await stage.until(lambda: bool(stage.of(TurnEnded)))
            assert stage.of(TurnEnded) == [TurnEnded("interrupted")]
            assert model.open_calls == 0
        else:
            await stage.say()
        assert balanced(stage.bodies)
        assert stage.session.history.open == {}


@given(st.data())
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_promise_1_holds_for_an_interrupt_at_any_moment(tmp_path_factory, data):
    """Random scripts, an interrupt after a random number of events: all is closed, and the next request is whole."""
    parts = data.draw(st.lists(st.sampled_from(["text", "call", "hang", "bad"]), min_size=1, max_size=4))
    step = sum(
        ([*text("t", n)] if p == "text" else call(("act" if p == "call" else p), "{}", n) for n, p in enumerate(parts)),
        [],
    )
    after = data.draw(st.integers(0, 12))

    async def story() -> None:
        model = ScriptedModel(step + finish("calls"), step + finish("calls"))
        async with play(tmp_path_factory.mktemp("p"), model, Recording().tool, *TOOLS) as stage:
            await stage.session.send(Say(parts=(Text("go"),)))
            await stage.until(lambda: len(stage.events) >= min(after, 3))
            await asyncio.sleep(0.002 * (after % 5))
            await stage.send(Interrupt())
            await stage.until(lambda: bool(stage.of(TurnEnded)))
            assert balanced(stage.bodies)
            model.steps = [answer("ok")]
            assert await stage.say() == TurnEnded("done")
            assert all(i.result for i in model.requests[-1].items if isinstance(i, ToolCall))

    asyncio.run(story())


async def test_promise_2_a_client_that_ignores_deltas_loses_nothing(tmp_path):
    model = ScriptedModel([Began(0, "text"), *[Grew(0, f"{n} ") for n in range(50)], Ended(0), *finish()])
    async with play(tmp_path, model) as stage:
        await stage.say()
        grown = "".join(b.text for b in stage.of(ItemDelta))
        whole = stage.of(ItemDone)[-1].item.text
        assert grown == whole == "".join(f"{n} " for n in range(50))
        offsets = [b.offset for b in stage.of(ItemDelta)]
        assert offsets == [len("".join(f"{n} " for n in range(k))) for k in range(50)]


async def test_promise_2_a_slow_listener_loses_only_deltas_and_holds_nobody_up(tmp_path, monkeypatch):
    monkeypatch.setattr("hermes.agent.listeners.MOST_WAITING", 5)
    model = ScriptedModel(*[[Began(0, "text"), *[Grew(0, "x")] * 50, Ended(0), *finish()] for _ in range(5)])
    async with play(tmp_path, model) as stage, aclosing(stage.session.events()) as slow:
        seen = [await anext(slow)]
        for _ in range(5):
            await stage.say()
        while not (isinstance(seen[-1].body, TurnEnded) and seen[-1].turn == 5):
            seen.append(await anext(slow))
        durable = [e for e in stage.events if e.seq]
        assert [e for e in seen if e.seq] == durable


async def test_promise_3_item_done_and_changed_rebuild_the_session(tmp_path):
    model = ScriptedModel(
        text("a") + call("act", '{"word": "w"}', 1) + finish("calls"), answer("b"), answer("c"), answer("d")
    )
    async with play(tmp_path, model, Recording().tool) as stage:
        for words in "123":
            await stage.say(words)
        await stage.send(Rewind(to=3))
        await stage.say("4")
        live = stage.session.history
        rebuilt = History()
        for event in await stage.store.events(stage.session.id):
            if isinstance(event.body, ItemDone | Changed):
                rebuilt.apply(event)
        assert rebuilt.view() == live.view() == (await read_history(stage.store, stage.session.id)).view()
        opened = stage.bodies[0]
        assert await stage.store.get(opened.prefix.system, stage.session.id) == b"You are a test."
        tools = json.loads(await stage.store.get(opened.prefix.tools, stage.session.id))
        assert [tool["name"] for tool in tools] == ["act"]


async def test_promise_4_after_an_interrupt_each_call_has_a_result(tmp_path):
    model = ScriptedModel(call("hang", '{"word": "x"}') + call("act", "{}", 1) + finish("calls"), answer("ok"))
    act = Recording()
    async with play(tmp_path, model, *TOOLS, act.tool) as stage:
        await stage.session.send(Say(parts=(Text("go"),)))
        await stage.until(lambda: any(b.channel == "output" for b in stage.of(ItemDelta)))
        await stage.send(Interrupt())
        await stage.say("and now?")
        calls = [i for i in model.requests[-1].items if isinstance(i, ToolCall)]
        assert [(c.name, c.args, c.status) for c in calls] == [
            ("hang", '{"word": "x"}', "interrupted"),
            ("act", "{}", "interrupted"),
        ]
        assert calls[0].result == (Text("Interrupted by the person. Output until then:\nworking\n"),)
        assert act.ran == []


async def test_promise_4_a_reply_that_was_interrupted_stays_in_view(tmp_path):
    model = ScriptedModel([Began(0, "text"), Grew(0, "I was ab"), forever], answer("ok"))
    async with play(tmp_path, model) as stage:
        await stage.session.send(Say(parts=(Text("go"),)))
        await stage.until(lambda: bool(stage.of(ItemDelta)))
        await stage.send(Interrupt())
        await stage.say("go on")
        assert [(i.text, i.status) for i in model.requests[1].items if isinstance(i, Reply)] == [
            ("I was ab", "interrupted")
        ]


async def test_promise_5_the_prefix_is_byte_stable_between_announced_breaks(tmp_path):
    act, other = Recording("act"), Recording("other")
    model = ScriptedModel()
    async with play(tmp_path, model, act.tool, toolset=lambda names: (act.tool, other.tool)) as stage:
        await stage.say()
        await stage.say()
        await stage.send(Configure(tools=("more",)))
        await stage.say()
        first, second, third = [(r.system, r.tools) for r in model.requests]
        assert first == second != third
        assert [b.why for b in stage.of(Changed) if b.cause == "prefix"] == ["tools"]
        name = stage.session.id
    async with play(tmp_path, model, act.tool, other.tool, resume=name, system="Another day.") as stage:
        await stage.say()
        assert (model.requests[3].system, model.requests[3].tools) == third


@pytest.mark.parametrize("cut", range(14))
async def test_promise_6_a_tool_never_runs_on_cut_arguments(tmp_path, cut):
    whole = '{"word": "ab"}'
    act = Recording()
    stream = [Began(0, "call", "c", "act"), Grew(0, whole[:cut])]
    for ending in ([Disconnected("cut")], [Ended(0), Finished("length", Tokens(), "m")], [Ended(0), *finish("calls")]):
        async with play(tmp_path, ScriptedModel(stream + ending), act.tool) as stage:
            await stage.say()
            assert balanced(stage.bodies)
    assert act.ran == ([""] if cut == 0 else [])  # no arguments at all mean {}, and fit the schema


async def test_promise_7_an_interrupt_ends_model_call_and_tool_within_a_second(tmp_path):
    loop = asyncio.get_running_loop()
    ended = asyncio.Event()

    async def stubborn(ctx, args):
        try:
            ctx.emit("output", "!")
            await forever()
            return said("never")
        finally:
            ended.set()

    for model in (
        ScriptedModel([Began(0, "text"), Grew(0, "x"), forever]),
        ScriptedModel(call("stubborn") + finish("calls")),
    ):
        async with play(tmp_path, model, make_tool("stubborn", stubborn)) as stage:
            await stage.session.send(Say(parts=(Text("go"),)))
            await stage.until(lambda: any(b.channel in ("text", "output") for b in stage.of(ItemDelta)))
            began = loop.time()
            await stage.send(Interrupt())
            await stage.until(lambda: bool(stage.of(TurnEnded)))
            assert loop.time() - began < 1
            assert not stage.session.busy and model.open_calls == 0
    assert ended.is_set()


async def test_promise_8_an_effect_that_had_begun_is_reported_as_unknown_and_not_run_again(tmp_path):
    """A process is killed -9 while its tool runs, with another message waiting; test_crashes has every other moment."""
    command = [sys.executable, "-m", "tests.agent.hanging_child", str(tmp_path)]
    child = await asyncio.create_subprocess_exec(*command, cwd=Path(__file__).parents[2], stdout=subprocess.PIPE)
    assert child.stdout is not None
    name = (await child.stdout.readline()).decode().strip()
    child.kill()
    await child.wait()
    model, act, look = ScriptedModel(), Recording(), Recording("look", effect=False)
    async with play(tmp_path, model, act.tool, look.tool, resume=name) as stage:
        await stage.until(lambda: TurnEnded("done") in stage.bodies)
        calls = [i for i in model.requests[-1].items if isinstance(i, ToolCall)]
        assert [(c.name, c.args, c.status) for c in calls] == [("act", '{"word": "once"}', "unknown")]
        words = [i.parts[0].text for i in model.requests[-1].items if isinstance(i, UserMessage)]  # type: ignore[union-attr]
        assert words == ["go", "later"]
        assert act.ran == []
        assert balanced(stage.bodies)
        assert await stage.store.unfinished(name) == []


async def test_promise_9_a_childs_budget_is_part_of_its_parents(tmp_path):
    parent = Meter(Budget(steps=4, tokens=1000, money=1))
    model = ScriptedModel(*[call("act") + finish("calls", Tokens(input=10, output=10), 0.1) for _ in range(9)])
    async with play(tmp_path, model, Recording().tool, above=parent, budget=Budget(steps=100)) as stage:
        ended = await stage.say()
        assert (ended.reason, ended.limit) == ("limit", "steps")
        assert (parent.steps, parent.tokens, round(parent.money, 2)) == (4, 80, 0.4)


async def test_a_question_is_asked_and_answered_through_ops(tmp_path):
    model = ScriptedModel(call("ask") + finish("calls"), answer("ok"))
    async with play(tmp_path, model, *TOOLS) as stage:
        await stage.session.send(Say(parts=(Text("go"),)))
        await stage.until(lambda: bool(stage.of(Asked)))
        await stage.send(Answer(request_id=stage.of(Asked)[0].request_id, text="yes"))
        await stage.until(lambda: bool(stage.of(TurnEnded)))
        assert model.requests[1].items[-1].result == (Text("yes"),)  # type: ignore[union-attr]


async def test_a_secret_is_never_stored(tmp_path):
    async def secret(ctx, args):
        answered = await ctx.ask(Secret("your password"), 60)
        return said("got it" if answered.text == "hunter2" else "wrong")

    model = ScriptedModel(call("secret") + finish("calls"), answer("ok"))
    async with play(tmp_path, model, make_tool("secret", secret)) as stage:
        await stage.session.send(Say(parts=(Text("go"),)))
        await stage.until(lambda: bool(stage.of(Asked)))
        await stage.send(Answer(request_id=stage.of(Asked)[0].request_id, data=msgspec.Raw(b'"hunter2"')))
        await stage.until(lambda: bool(stage.of(TurnEnded)))
        assert model.requests[1].items[-1].result == (Text("got it"),)  # type: ignore[union-attr]
    assert b"hunter2" not in b"".join(p.read_bytes() for p in tmp_path.iterdir())


async def test_two_processes_cannot_own_one_session(tmp_path):
    async with play(tmp_path, ScriptedModel()) as stage:
        await stage.say()
        with pytest.raises(UserError, match="is open in another process"):
            await Session.resume(stage.store, options(ScriptedModel()), stage.session.id)


async def test_another_process_sends_ops_through_the_store(tmp_path):
    async with play(tmp_path, ScriptedModel()) as stage, SqliteStore(tmp_path / "state.db") as elsewhere:
        await elsewhere.put(stage.session.id, Say(parts=(Text("from afar"),), by="other process"))
        await stage.until(lambda: stage.of(TurnEnded) == [TurnEnded("done")])
        assert [e.body for e in await elsewhere.events(stage.session.id)] == [e.body for e in stage.events if e.seq]


async def test_ops_from_elsewhere_reach_every_session_of_a_process(tmp_path):
    async with play(tmp_path, ScriptedModel()) as one, SqliteStore(tmp_path / "state.db") as elsewhere:
        other = Play(await Session.create(one.store, options(ScriptedModel())), one.store)
        for stage in (one, other):
            await elsewhere.put(stage.session.id, Say(parts=(Text("from afar"),)))
        for stage in (one, other):
            await stage.until(lambda stage=stage: stage.of(TurnEnded) == [TurnEnded("done")])
        await other.close()


async def test_a_resumed_session_has_its_tools_and_budget_again(tmp_path):
    act, other = Recording("act"), Recording("other")
    more: dict[str, Any] = {"toolset": lambda names: (act.tool, other.tool)}
    async with play(tmp_path, ScriptedModel(), act.tool, **more) as stage:
        await stage.say()
        await stage.send(Configure(tools=("more",), budget=Budget(steps=7)))
        await stage.until(lambda: any(b.cause == "config" for b in stage.of(Changed)))
        name = stage.session.id
    async with play(tmp_path, ScriptedModel(), act.tool, resume=name, **more) as stage:
        assert (list(stage.session.tools), stage.session.budget) == (["act", "other"], Budget(steps=7))


async def test_an_op_that_fails_is_told_and_the_session_goes_on(tmp_path, caplog):
    def broken(names):
        raise ZeroDivisionError("oops")

    async with play(tmp_path, ScriptedModel(), toolset=broken) as stage:
        await stage.send(Configure(tools=("x",)))
        await stage.until(lambda: [n.text for n in stage.of(Notice)] == ["Configure failed: oops"])
        assert await stage.say() == TurnEnded("done")


async def test_a_session_that_was_taken_over_lets_go(tmp_path, monkeypatch):
    monkeypatch.setattr("hermes.agent.session.HEARTBEAT", 0.05)
    async with play(tmp_path, ScriptedModel()) as stage:
        await stage.store.release(stage.session.id, stage.session.options.owner)
        async with asyncio.timeout(5):
            await stage.session.closed()
        with pytest.raises(UserError, match="is closed"):
            await stage.say()


async def test_a_stop_and_a_close_amid_redirects_leave_no_turn_behind(tmp_path):
    model = ScriptedModel([Began(0, "text"), Grew(0, "x"), forever])
    async with play(tmp_path, model) as stage:
        await stage.session.send(Say(parts=(Text("go"),)))
        await stage.until(lambda: bool(stage.of(ItemDelta)))
        await stage.redirect("this too")
        await asyncio.gather(stage.session.close(), stage.session.send(Say(parts=(Text("and this"),))))
        assert balanced(stage.bodies) or not stage.of(TurnEnded)
        assert len(model.requests) == 1
    async with play(tmp_path, ScriptedModel(), resume=stage.session.id) as later:
        await later.until(lambda: len(later.of(TurnEnded)) == 3)  # what was acknowledged has its turn now
        assert balanced(later.bodies)
