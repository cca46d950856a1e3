"""A session whose window fills up: its view gets shorter at the right moments, and nothing is lost by it."""

import asyncio

import pytest

from hermes.agent.aside import Aside
from hermes.protocol.errors import ContextTooLong, Overloaded
from hermes.protocol.events import Changed, ItemDone, Notice, Usage
from hermes.protocol.items import Summary, ToolCall, UserMessage, text_of
from hermes.protocol.models import Tokens
from hermes.protocol.ops import Compact
from hermes.protocol.tools import Result, ToolContext, said
from tests.agent.stage import Args, ScriptedModel, Step, answer, call, finish, make_tool, play, text

WINDOW = 10_000


async def _fetch(ctx: ToolContext, args: Args) -> Result:
    return said(f"{args.word} begins " + f"line of {args.word}\n" * 400)


FETCH = make_tool("fetch", _fetch, effect=False)


def fetches(word: str, used: int = 10) -> Step:
    return call("fetch", f'{{"word": "{word}"}}') + finish("calls", Tokens(input=used, output=5))


def ends(words: str, used: int) -> Step:
    return text(words) + finish("stop", Tokens(input=used, output=5))


class Summariser:
    """Condenses as it is told, and remembers what it was given."""

    def __init__(self, says: str | Exception = "Done: much was fetched.") -> None:
        self.says = says
        self.given: list[tuple[str, str]] = []
        self.gate = asyncio.Event()
        self.gate.set()

    async def __call__(self, source: str, how: str) -> Aside:
        self.given.append((source, how))
        await self.gate.wait()
        if isinstance(self.says, Exception):
            raise self.says
        return Aside(self.says, False, Usage(0, "small", 100, 20, cost=0.01, purpose="compaction"))


def scripted(*steps: Step) -> ScriptedModel:
    model = ScriptedModel(*steps)
    model.window = WINDOW
    return model


def summaries(stage) -> list[Summary]:
    return [body.item for body in stage.of(ItemDone) if isinstance(body.item, Summary)]


def sent(model: ScriptedModel, number: int = -1) -> str:
    """Everything that a request showed of the conversation."""
    shown: list[str] = []
    for item in model.requests[number].items:
        match item:
            case ToolCall():
                shown.append(text_of(item.result))
            case UserMessage():
                shown.append(text_of(item.parts))
            case Summary():
                shown.append(item.text)
            case _:
                pass
    return "\n".join(shown)


async def test_at_sixty_percent_old_results_are_one_line_from_the_next_turn_on(tmp_path):
    model = scripted(fetches("a"), fetches("b"), fetches("c"), ends("ok", 6_500), ends("fine", 3_000))
    async with play(tmp_path, model, FETCH) as stage:
        await stage.say("fetch a, b and c")
        assert summaries(stage) == [], "nothing changes within the turn"
        await stage.say("go on")
        [mask] = summaries(stage)
        assert mask.kind == "mask" and len(mask.covers) == 2
        shown = sent(model)
        assert shown.count("line of a") < 20 and "context_expand" in shown, "the old result is one line"
        assert shown.count("line of c") == 400, "the newest fifth of the window is as it was"
        assert "fetch a, b and c" in shown
        [changed] = [body for body in stage.of(Changed) if body.cause == "view"]
        assert changed.items == (mask.id,)


async def test_at_three_quarters_a_summary_is_built_in_the_background_and_used_in_the_next_turn(tmp_path):
    summarise = Summariser()
    words = [fetches(f"w{n}") for n in range(8)]
    model = scripted(*words, ends("ok", 7_600), ends("fine", 3_000))
    async with play(tmp_path, model, FETCH, summarise=summarise) as stage:
        await stage.say("fetch them all")
        await stage.say("go on")
        leaf = next(each for each in summaries(stage) if each.kind == "leaf")
        shown = sent(model)
        assert "much was fetched" in shown and leaf.id in shown
        assert "fetch them all" in shown, "what the person said is kept"
        assert "fetched" in leaf.text and summarise.given
        spent, *_ = [usage for usage in stage.of(Usage) if usage.purpose]
        assert (spent.model, spent.purpose) == ("small", "compaction")
        row = await stage.store.session(stage.session.id)
        assert row is not None and row.totals.cost >= 0.01


async def test_above_eighty_five_percent_a_long_turn_makes_room_between_two_steps(tmp_path):
    summarise = Summariser()
    words = [fetches(f"w{n}") for n in range(8)]
    model = scripted(*words, fetches("last", 8_800), answer("done"))
    async with play(tmp_path, model, FETCH, summarise=summarise) as stage:
        ended = await stage.say("fetch them all")
        assert ended.reason == "done"
        assert {each.kind for each in summaries(stage)} >= {"mask"}
        assert sent(model).count("line of w1") < 20
        assert sent(model).count("line of last") == 400


async def test_a_request_that_is_refused_as_too_long_is_made_again_with_a_shorter_view(tmp_path):
    words = [fetches(f"w{n}") for n in range(6)]
    model = scripted(*words, [ContextTooLong("too long")], answer("done"))
    async with play(tmp_path, model, FETCH, summarise=Summariser(Overloaded("no"))) as stage:
        ended = await stage.say("fetch them all")
        assert ended.reason == "done"
        assert len(sent(model)) < len(sent(model, -2)) / 2
        assert "fetch them all" in sent(model)


async def test_a_single_step_that_does_not_fit_is_masked_too(tmp_path):
    model = scripted(fetches("huge"), [ContextTooLong("too long")], answer("done"))
    async with play(tmp_path, model, FETCH) as stage:
        assert (await stage.say("fetch it")).reason == "done"
        assert sent(model).count("line of huge") < 20


async def test_a_message_that_can_never_fit_ends_the_turn_and_not_the_session(tmp_path):
    model = scripted([ContextTooLong("too long")], answer("hello"))
    async with play(tmp_path, model, FETCH) as stage:
        assert (await stage.say("x" * 100)).reason == "failed"
        assert (await stage.say("shorter")).reason == "done"


@pytest.mark.parametrize(
    "says", [Overloaded("busy"), "", "blah " * 50_000], ids=["fails", "says nothing", "never ends"]
)
async def test_a_bad_summariser_leaves_the_words_as_they_are(tmp_path, says):
    words = [fetches(f"w{n}") for n in range(8)]
    model = scripted(*words, ends("ok", 7_600), ends("fine", 3_000))
    async with play(tmp_path, model, FETCH, summarise=Summariser(says)) as stage:
        await stage.say("fetch them all")
        await stage.say("go on")
        leaves = [each for each in summaries(stage) if each.kind == "leaf"]
        assert all(len(leaf.text) < 10_000 for leaf in leaves), "at most a short piece of what never ended"
        if says != "blah " * 50_000:
            assert leaves == [], "old results are masked, and that is all"
        assert "fetch them all" in sent(model)


async def test_somebody_who_asks_gets_it_at_once_with_the_focus_they_named(tmp_path):
    summarise = Summariser()
    words = [fetches(f"w{n}") for n in range(6)]
    model = scripted(*words, ends("ok", 4_000), ends("fine", 2_000))
    async with play(tmp_path, model, FETCH, summarise=summarise) as stage:
        await stage.say("fetch them all")
        preview = stage.session.preview()
        assert preview.spans and preview.after < preview.used
        await stage.send(Compact(focus="the colour"))
        await stage.until(lambda: any(body.cause == "view" for body in stage.of(Changed)))
        assert "the colour" in summarise.given[0][1]
        await stage.say("go on")
        assert "much was fetched" in sent(model)


async def test_the_last_exchanges_stay_word_for_word_if_somebody_wants_that(tmp_path):
    turns = [step for n in range(4) for step in (fetches(f"w{n}a"), fetches(f"w{n}b"), ends(f"answer {n}", 4_000))]
    model = scripted(*turns, ends("fine", 2_000))
    async with play(tmp_path, model, FETCH, summarise=Summariser()) as stage:
        for n in range(4):
            await stage.say(f"question {n}")
        last = [item for item in stage.session.history.view() if item.turn >= 3]
        await stage.send(Compact(keep=2))
        await stage.until(lambda: any(body.cause == "view" for body in stage.of(Changed)))
        view = stage.session.history.view()
        assert [item for item in view if item.turn >= 3 and not isinstance(item, Summary)] == last
        assert [item.turn for item in view if isinstance(item, ToolCall)] == [3, 3, 4, 4]
        await stage.say("go on")
        assert "much was fetched" in sent(model) and "question 0" in sent(model)


async def test_nothing_to_condense_is_said(tmp_path):
    async with play(tmp_path, scripted(answer("hi"))) as stage:
        await stage.say("hi")
        await stage.send(Compact())
        await stage.until(lambda: any(body.code == "compaction" for body in stage.of(Notice)))
        assert "nothing to condense" in stage.of(Notice)[-1].text


async def test_a_stop_in_the_middle_of_a_summary_changes_nothing(tmp_path):
    summarise = Summariser()
    summarise.gate.clear()
    words = [fetches(f"w{n}") for n in range(8)]
    model = scripted(*words, ends("ok", 7_600))
    async with play(tmp_path, model, FETCH, summarise=summarise) as stage:
        await stage.say("fetch them all")
        before = stage.session.history.view()
        await stage.session.close()
        assert stage.session.history.view() == before and summaries(stage) == []


async def test_where_nothing_is_condensed_by_itself_the_view_stays_whole(tmp_path):
    model = scripted(fetches("a"), fetches("b"), fetches("c", 8_800), ends("ok", 8_900), ends("fine", 3_000))
    summarise = Summariser()
    async with play(tmp_path, model, FETCH, summarise=summarise, condenses=False) as stage:
        await stage.say("fetch a, b and c")
        await stage.say("go on")
        assert (summaries(stage), summarise.given) == ([], [])
        assert [sent(model).count(f"line of {word}") for word in "abc"] == [400, 400, 400]


async def test_where_nothing_is_condensed_by_itself_a_refusal_names_the_command_and_it_works(tmp_path):
    words = [fetches(f"w{n}") for n in range(6)]
    model = scripted(*words, [ContextTooLong("too long")], answer("fine"))
    async with play(tmp_path, model, FETCH, summarise=Summariser(), condenses=False) as stage:
        assert (await stage.say("fetch them all")).reason == "failed"
        assert [notice.text for notice in stage.of(Notice)] == [
            "the conversation does not fit any more, and compression.enabled is false: /compress condenses it"
        ]
        await stage.session.send(Compact())
        await stage.until(lambda: bool(summaries(stage)))
        assert (await stage.say("go on")).reason == "done"
        assert sent(model).count("line of w1") < 20
