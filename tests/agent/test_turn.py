"""Stories of a turn, told through Session."""

import asyncio

import msgspec

from hermes.protocol.errors import BadRequest
from hermes.protocol.events import Changed, ItemDone, Notice, SessionClosed, TurnEnded, Usage
from hermes.protocol.items import Reply, Text, Thought, ToolCall, UserMessage, text_of
from hermes.protocol.models import Began, Grew, Retrying, Tokens
from hermes.protocol.ops import Budget, Configure, Interrupt, Rewind, Say
from hermes.protocol.tools import said
from tests.agent.stage import Recording, ScriptedModel, answer, call, finish, make_tool, play, text, thought


async def test_a_question_gets_an_answer(tmp_path):
    async with play(tmp_path, ScriptedModel(thought("hm") + text("hello", 1) + finish(cost=0.25))) as stage:
        assert await stage.say("hi") == TurnEnded("done")
        assert [kind for kind in stage.kinds() if kind != "ItemDelta"] == [
            *("SessionOpened", "TurnStarted", "ItemDone", "Changed", "ItemStarted", "ItemStarted"),
            *("ItemDone", "ItemDone", "Usage", "TurnEnded"),
        ]
        done = [body.item for body in stage.of(ItemDone)]
        assert [(type(i), i.step, i.index) for i in done] == [(UserMessage, 0, 0), (Thought, 1, 0), (Reply, 1, 1)]
        assert done[2].text == "hello"
        assert stage.of(Usage) == [
            Usage(1, "scripted", input=10, output=5, cost=0.25, context_used=15, context_size=100_000)
        ]
        assert [e.seq for e in stage.events if e.seq] == list(range(1, 11))


async def test_what_the_model_calls_is_run_and_it_sees_the_result(tmp_path):
    act = Recording()
    model = ScriptedModel(call("act", '{"word": "a"}') + finish("calls"), answer("ok"))
    async with play(tmp_path, model, act.tool) as stage:
        assert await stage.say() == TurnEnded("done")
        assert act.ran == ["a"]
        seen = model.requests[1].items[-1]
        assert isinstance(seen, ToolCall)
        assert (seen.status, seen.args, seen.result) == ("done", '{"word": "a"}', (Text("did a"),))


async def test_read_only_calls_run_together_and_effects_in_order(tmp_path):
    look, act = Recording("look", effect=False, seconds=0.02), Recording(seconds=0.02)
    steps = [call("look", f'{{"word": "{n}"}}', n) for n in range(4)] + [
        call("act", f'{{"word": "{n}"}}', 4 + n) for n in range(3)
    ]
    async with play(tmp_path, ScriptedModel(sum(steps, []) + finish("calls")), look.tool, act.tool) as stage:
        await stage.say()
        assert (look.most_at_once, act.most_at_once) == (4, 1)
        assert act.ran == ["0", "1", "2"]


async def test_writes_to_different_files_run_together(tmp_path):
    act = Recording(seconds=0.02, writes=lambda args: (args.word,))
    words = ["a", "b", "b"]
    steps = [call("act", f'{{"word": "{word}"}}', n) for n, word in enumerate(words)]
    async with play(tmp_path, ScriptedModel(sum(steps, []) + finish("calls")), act.tool) as stage:
        await stage.say()
        assert act.most_at_once == 2
        assert sorted(act.ran) == words


async def test_an_unknown_tool_and_bad_arguments_are_answered_not_run(tmp_path):
    act = Recording()
    model = ScriptedModel(
        call("akt", "{}", 0) + call("act", '{"word": "a', 1) + call("act", '{"no": 1}', 2) + finish("calls"),
        answer("ok"),
    )
    async with play(tmp_path, model, act.tool) as stage:
        assert await stage.say() == TurnEnded("done")
        assert act.ran == []
        results = [text_of(i.result) for i in model.requests[1].items if isinstance(i, ToolCall)]
        assert results[0] == "there is no tool 'akt'; did you mean act?"
        assert results[1].startswith("act did not run: its arguments are not JSON")
        assert results[2] == "act did not run: unknown argument 'no'. It takes (word?)."


async def test_a_call_cut_by_the_output_limit_is_not_run_and_the_model_may_try_again(tmp_path):
    act = Recording()
    model = ScriptedModel(call("act", '{"word": "a"}') + finish("length"), answer("ok"))
    async with play(tmp_path, model, act.tool) as stage:
        assert await stage.say() == TurnEnded("done")
        assert act.ran == []


async def test_a_model_whose_calls_are_always_cut_is_stopped(tmp_path):
    steps = [call("act") + finish("length") for _ in range(10)]
    async with play(tmp_path, ScriptedModel(*steps), Recording().tool) as stage:
        ended = await stage.say()
        assert (ended.reason, ended.limit) == ("limit", "output")


async def test_a_retry_voids_what_came_before_it(tmp_path):
    model = ScriptedModel(
        [Began(0, "text"), Grew(0, "half"), Retrying("the connection broke", 2, "scripted")] + answer("whole")
    )
    async with play(tmp_path, model) as stage:
        assert await stage.say() == TurnEnded("done")
        replies = [b.item for b in stage.of(ItemDone) if isinstance(b.item, Reply)]
        assert [(r.text, r.status) for r in replies] == [("", "discarded"), ("whole", "done")]
        assert stage.of(Notice) == [
            Notice("the connection broke; trying scripted again in 2 s", level="warning", code="retry")
        ]
        await stage.say()
        assert [i.text for i in model.requests[1].items if isinstance(i, Reply)] == ["whole"]


async def test_an_error_of_the_model_fails_the_turn_and_the_next_one_works(tmp_path):
    async with play(tmp_path, ScriptedModel([BadRequest("no such model")], answer("ok"))) as stage:
        ended = await stage.say()
        assert (ended.reason, ended.error) == ("failed", "no such model")
        assert await stage.say() == TurnEnded("done")


async def test_an_unforeseen_error_is_a_failure_not_a_success(tmp_path, caplog):
    async with play(tmp_path, ScriptedModel([ZeroDivisionError("oops")])) as stage:
        assert await stage.say() == TurnEnded("failed", error="internal error: ZeroDivisionError: oops")


async def test_a_refusal_ends_the_turn_as_refused(tmp_path):
    async with play(tmp_path, ScriptedModel(text("I will not") + finish("refused"))) as stage:
        assert (await stage.say()).reason == "refused"


async def test_an_empty_answer_is_a_failure(tmp_path):
    async with play(tmp_path, ScriptedModel(finish())) as stage:
        assert (await stage.say()).reason == "failed"


async def test_duplicate_call_ids_are_made_unique(tmp_path):
    model = ScriptedModel(
        call("act", call_id="x") + call("act", "{}", 1, "x") + call("act", "{}", 2, "x") + finish("calls")
    )
    async with play(tmp_path, model, Recording().tool) as stage:
        await stage.say()
        assert [i.call_id for i in model.requests[1].items if isinstance(i, ToolCall)] == ["x", "x_1", "x_2"]


async def test_a_message_can_join_the_running_turn(tmp_path):
    started, go = asyncio.Event(), asyncio.Event()

    async def wait() -> None:
        started.set()
        await go.wait()

    model = ScriptedModel([wait] + call("act") + finish("calls"), answer("ok"))
    async with play(tmp_path, model, Recording().tool) as stage:
        await stage.session.send(Say(parts=(Text("first"),)))
        await started.wait()
        await stage.redirect("rather this")
        await stage.redirect("and that")
        # Ops are taken in order: once this one is told of, those before it were taken.
        await stage.send(Interrupt(expect_turn=7))
        await stage.until(lambda: bool(stage.of(Notice)))
        go.set()
        await stage.until(lambda: bool(stage.of(TurnEnded)))
        shown = [i for i in model.requests[1].items if isinstance(i, UserMessage)]
        assert [(m.parts[0].text, m.origin) for m in shown] == [  # type: ignore[union-attr]
            *(("first", "person"), ("rather this", "redirect"), ("and that", "redirect"))
        ]
        assert [type(i).__name__ for i in model.requests[1].items] == [
            "UserMessage",
            "ToolCall",
            "UserMessage",
            "UserMessage",
        ]


async def test_a_redirect_without_a_running_turn_starts_one(tmp_path):
    async with play(tmp_path, ScriptedModel()) as stage:
        await stage.redirect("hello")
        await stage.until(lambda: stage.of(TurnEnded) == [TurnEnded("done")])


async def test_what_is_said_meanwhile_waits_its_turn(tmp_path):
    go = asyncio.Event()

    async def wait() -> None:
        await go.wait()

    model = ScriptedModel([wait, *answer("one")], answer("two"))
    async with play(tmp_path, model) as stage:
        await stage.session.send(Say(parts=(Text("a"),)))
        second = Say(parts=(Text("b"),))
        await stage.session.send(second)
        await stage.until(lambda: any(b == Changed("queue", queue=(second.id,)) for b in stage.bodies))
        go.set()
        await stage.until(lambda: len(stage.of(TurnEnded)) == 2)
        assert [i.text for i in model.requests[1].items if isinstance(i, Reply)] == ["one"]


async def test_undo_hides_turns_from_the_model_and_keeps_them_in_the_log(tmp_path):
    model = ScriptedModel(answer("one"), answer("two"), answer("three"))
    async with play(tmp_path, model) as stage:
        await stage.say("a")
        await stage.say("b")
        await stage.send(Rewind(to=2))
        await stage.until(lambda: any(b == Changed("rewound", turns=(2, 2)) for b in stage.bodies))
        await stage.say("c")
        words = [i.parts[0].text for i in model.requests[2].items if isinstance(i, UserMessage)]  # type: ignore[union-attr]
        assert words == ["a", "c"]
        assert len([b for b in stage.of(ItemDone) if isinstance(b.item, UserMessage)]) == 3


async def test_an_op_for_another_turn_has_no_effect(tmp_path):
    async with play(tmp_path, ScriptedModel()) as stage:
        await stage.say()
        await stage.send(Interrupt(expect_turn=7))
        await stage.until(lambda: bool(stage.of(Notice)))
        assert stage.of(Notice)[0].text == "Interrupt had no effect: it was meant for turn 7, and this is turn 1"


async def test_a_repeated_op_returns_the_first_receipt_and_has_no_second_effect(tmp_path):
    model = ScriptedModel()
    async with play(tmp_path, model) as stage:
        op = Say(parts=(Text("hi"),))
        first = await stage.session.send(op)
        await stage.until(lambda: bool(stage.of(TurnEnded)))
        assert await stage.session.send(op) == first
        await stage.say("and then?")
        said_to = [[text_of(i.parts) for i in each.items if isinstance(i, UserMessage)] for each in model.requests]
        assert said_to == [["hi"], ["hi", "and then?"]]


async def test_a_new_model_answers_from_the_next_step_on(tmp_path):
    other = ScriptedModel(answer("from the other"), name="other")
    async with play(tmp_path, ScriptedModel(), model_named=lambda name: other) as stage:
        await stage.say()
        await stage.send(Configure(model="other"))
        await stage.say()
        assert len(other.requests) == 1
        breaks = [b for b in stage.of(Changed) if b.cause == "prefix"]
        assert [b.why for b in breaks] == ["model"]


async def test_a_long_result_is_kept_whole_and_shown_in_part(tmp_path):
    async def long(ctx, args):
        return said("x" * 150_000)

    model = ScriptedModel(call("long") + finish("calls"))
    async with play(tmp_path, model, make_tool("long", long)) as stage:
        await stage.say()
        shown = model.requests[1].items[-1].result[0].text  # type: ignore[union-attr]
        assert len(shown) < 2_000
        ref = shown.partition('"blob:')[2].partition('"')[0]
        assert await stage.store.get(ref, stage.session.id) == b"x" * 150_000


async def test_the_results_of_one_step_have_a_limit_together_and_the_next_step_begins_anew(tmp_path):
    async def long(ctx, args):
        return said(args.word * 90_000)

    step = [part for n, word in enumerate("abcd") for part in call("long", f'{{"word": "{word}"}}', n)]
    model = ScriptedModel(step + finish("calls"), call("long", '{"word": "e"}') + finish("calls"))
    async with play(tmp_path, model, make_tool("long", long, effect=False)) as stage:
        await stage.say()
        shown = [text_of(i.result) for i in model.requests[2].items if isinstance(i, ToolCall)]
        whole = [text for text in shown if len(text) == 90_000]
        cut = [text for text in shown if len(text) < 2_000]
        assert (len(whole), len(cut)) == (3, 2) and shown[-1] == "e" * 90_000
        for text in cut:
            assert "with the other results of this step above the limit of 200,000" in text
            ref = text.partition('"blob:')[2].partition('"')[0]
            assert await stage.store.get(ref, stage.session.id) == text[:1].encode() * 90_000


async def test_steps_tokens_money_and_time_are_hard_limits(tmp_path):
    def endless() -> ScriptedModel:
        return ScriptedModel(*[call("act") + finish("calls", Tokens(input=40, output=10), 0.5) for _ in range(50)])

    for budget, limit, steps in [
        (Budget(steps=3), "steps", 3),
        (Budget(tokens=200), "tokens", 3),
        (Budget(money=1.0), "money", 2),
        (Budget(seconds=0.2), "time", 2),
    ]:
        model = endless()
        slow = Recording(seconds=0.15 if limit == "time" else 0)
        async with play(tmp_path, model, slow.tool, budget=budget) as stage:
            ended = await stage.say()
            assert (ended.reason, ended.limit, len(model.requests)) == ("limit", limit, steps)
            assert await _next_request_is_whole(stage, model)


async def _next_request_is_whole(stage, model) -> bool:
    model.steps = [answer("ok")]
    await stage.send(Configure(budget=Budget()))
    await stage.say()
    return all(i.result for i in msgspec.structs.astuple(model.requests[-1])[2] if isinstance(i, ToolCall))


async def test_who_listens_to_a_closed_session_hears_it_to_its_end(tmp_path):
    async with play(tmp_path, ScriptedModel()) as stage:
        await stage.say()
        await stage.session.close()
        heard = [event async for event in stage.session.events()]
        assert isinstance(heard[-1].body, SessionClosed)


async def test_a_money_budget_stops_a_model_whose_price_is_not_known(tmp_path):
    model = ScriptedModel(*[call("act") + finish("calls", cost=None) for _ in range(9)])
    async with play(tmp_path, model, Recording().tool, budget=Budget(money=1.0)) as stage:
        ended = await stage.say()
        assert (ended.limit, len(model.requests)) == ("money", 1)


async def test_a_token_budget_counts_the_prefix_before_the_first_call(tmp_path):
    model = ScriptedModel()
    async with play(tmp_path, model, budget=Budget(tokens=1_000), system="x" * 8_000) as stage:
        assert ((await stage.say()).limit, len(model.requests)) == ("tokens", 0)
