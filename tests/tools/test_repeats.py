import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from hermes.config import HardStopCounts, LoopCounts, ToolLoopGuardrails, convert
from hermes.protocol.errors import Denied, HermesError, StoreError, TerminalError, ToolError, UserError
from hermes.protocol.events import Answered
from hermes.protocol.items import Kind, Text
from hermes.protocol.tools import Result, ToolContext, said
from hermes.tools import repeats
from hermes.tools.declare import tool
from hermes.tools.repeats import Repeats
from tests.tools.context import Context

SILENT = ToolLoopGuardrails(warnings_enabled=False)
STOPPING = ToolLoopGuardrails(hard_stop_enabled=True)


class Watched(Context):
    """A session whose tools are watched, and whose turn is what a test says."""

    turn = 1

    def watch(self, settings: ToolLoopGuardrails = ToolLoopGuardrails()) -> None:
        seen = Repeats(settings, lambda: self.turn)
        self.tools = {name: seen.watched(one) for name, one in self.tools.items()}

    def add(self, function: Callable[..., Awaitable[Result | str]], kind: Kind, effect: bool = False) -> None:
        one = tool(function, kind=kind, toolset="added", effect=effect)
        self.tools[one.spec.name] = one

    async def says(self, name: str, **args: Any) -> list[str]:
        """What the model reads of a call, part by part; of one that was not done, the error."""
        try:
            result = await self.do(name, **args)
        except HermesError as error:
            return str(error).split("\n")
        return [part.text for part in result.parts if isinstance(part, Text)]


@pytest.fixture
def bare(ctx: Context) -> Watched:
    """A session whose tools nobody watches yet."""
    bare = Watched(ctx.terminal, ctx.files)
    bare.add(fail, "read")
    bare.add(look, "read")
    bare.add(act, "other", effect=True)
    return bare


@pytest.fixture
def watched(bare: Watched) -> Watched:
    """A session whose tools are watched as they are without a setting."""
    bare.watch()
    return bare


async def fail(ctx: ToolContext, why: str) -> Result:
    """Fail."""
    raise ToolError(why)


async def look(ctx: ToolContext, at: str, fails: bool = False) -> Result:
    """Look at something that stays as it is."""
    return said(at, failed=fails)


async def act(ctx: ToolContext, fails: bool = False) -> Result:
    """Change something."""
    return said("did it", failed=fails)


def exactly(times: int) -> str:
    return f"[this very call has failed {times} times in the same way; do something else]"


def in_a_row(name: str, times: int) -> str:
    return f"[{name} has failed {times} times in a row; do something else]"


def unchanged(times: int) -> str:
    return f"[this very call has given the same {times} times; nothing has changed since]"


def stopped(name: str, why: str) -> list[str]:
    return [f"{name} did not run: {why}. Do something else, or say what stands in the way."]


# The very same failure


async def test_the_second_failure_of_the_very_same_call_says_so(watched: Watched):
    first, other, second, third = [await watched.says("read_file", path=path) for path in ("no", "none", "no", "no")]
    assert other == [line.replace("no ", "none ", 1) for line in first]
    assert [second, third] == [[*first, exactly(2)], [*first, exactly(3)]]


async def test_a_command_that_fails_with_the_same_words_counts_and_with_others_does_not(watched: Watched):
    same = [await watched.do("terminal", command="echo no; exit 3") for _ in range(2)]
    await watched.do("terminal", command="true")
    other = [await watched.do("terminal", command="echo $RANDOM$RANDOM; exit 3") for _ in range(2)]
    assert [result.failed for result in (*same, *other)] == [True] * 4
    assert [len(result.parts) for result in (*same, *other)] == [1, 2, 1, 1]
    assert same[1].parts == (*same[0].parts, Text(exactly(2)))


async def test_the_order_of_arguments_makes_no_other_call(bare: Watched):
    async def given(ctx: ToolContext, what: dict[str, int]) -> Result:
        """Fail whatever is given."""
        raise ToolError("no")

    bare.add(given, "read")
    bare.watch()
    assert await bare.says("given", what={"a": 1, "b": 2}) == ["no"]
    assert await bare.says("given", what={"b": 2, "a": 1}) == ["no", exactly(2)]


async def test_an_effect_that_went_well_may_have_changed_what_will_happen(watched: Watched, tmp_path: Path):
    (tmp_path / "yes").touch()
    first = await watched.says("read_file", path="no")
    await watched.do("write_file", path="yes", content="x")
    assert await watched.says("read_file", path="no") == first
    await watched.do("read_file", path="yes")
    assert await watched.says("read_file", path="no") == [*first, exactly(2)]


async def test_an_effect_that_failed_and_a_plan_change_nothing_about_a_failure(watched: Watched):
    await watched.says("fail", why="no")
    await watched.do("act", fails=True)
    await watched.do("todo", todos=[{"id": "1", "content": "go on"}])
    assert await watched.says("fail", why="no") == ["no", exactly(2)]


async def test_a_call_that_worked_in_between_begins_anew(watched: Watched, tmp_path: Path):
    first = await watched.says("read_file", path="it")
    (tmp_path / "it").write_text("x")
    assert await watched.says("read_file", path="it") == ["1|x"]
    (tmp_path / "it").unlink()
    assert await watched.says("read_file", path="it") == first


@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Denied("no"), ["no"]),
        (StoreError("full"), ["full"]),
        (TerminalError("gone"), ["gone", exactly(2)]),
        (ToolError("no"), ["no", exactly(2)]),
    ],
    ids=lambda value: type(value).__name__,
)
async def test_a_refusal_and_a_lost_store_are_left_as_they_are(bare: Watched, error: HermesError, words: list[str]):
    async def raising(ctx: ToolContext) -> Result:
        """Raise it."""
        raise error

    bare.add(raising, "other", effect=True)
    bare.watch()
    assert await bare.says("raising") == [str(error)]
    assert await bare.says("raising") == words


# Failures of one tool in a row


async def test_the_third_failure_of_a_tool_in_a_row_says_so_whatever_the_arguments(watched: Watched):
    heard = [await watched.says("fail", why=why) for why in ("a", "b", "c", "d")]
    assert heard == [["a"], ["b"], ["c", in_a_row("fail", 3)], ["d", in_a_row("fail", 4)]]


async def test_the_very_same_failure_is_told_as_such_and_only_once(watched: Watched):
    heard = [await watched.says("fail", why=why) for why in ("a", "b", "a")]
    assert heard == [["a"], ["b"], ["a", exactly(2)]]


async def test_failures_in_a_row_are_those_of_one_tool_until_it_works(watched: Watched):
    for why in ("a", "b"):
        await watched.says("fail", why=why)
        await watched.says("look", at=why, fails=True)
    assert await watched.says("look", at="c") == ["c"]
    assert await watched.says("look", at="d", fails=True) == ["d"]
    assert await watched.says("fail", why="c") == ["c", in_a_row("fail", 3)]


async def test_an_effect_that_goes_well_ends_the_row_of_every_tool(watched: Watched):
    heard = []
    for why in ("a", "b", "c", "d"):
        heard.append(await watched.says("fail", why=why))
        await watched.do("act")
    assert heard == [["a"], ["b"], ["c"], ["d"]]


async def test_calls_of_one_step_count_once_each(watched: Watched):
    heard = await asyncio.gather(*[watched.says("fail", why=why) for why in ("a", "b", "c")])
    assert heard == [["a"], ["b"], ["c", in_a_row("fail", 3)]]


# The same result while nothing changes


async def test_looking_at_the_same_again_says_that_nothing_has_changed(watched: Watched):
    heard = [await watched.says("look", at=at) for at in ("a", "b", "a", "a")]
    assert heard == [["a"], ["b"], ["a", unchanged(2)], ["a", unchanged(3)]]


@pytest.mark.parametrize("fails", [False, True])
async def test_after_an_effect_even_one_that_failed_a_second_look_is_worth_it(watched: Watched, fails: bool):
    await watched.says("look", at="a")
    await watched.do("act", fails=fails)
    assert await watched.says("look", at="a") == ["a"]
    await watched.do("todo", todos=[{"id": "1", "content": "go on"}])
    assert await watched.says("look", at="a") == ["a", unchanged(2)]


async def test_a_search_that_finds_something_else_is_no_repetition(watched: Watched, tmp_path: Path):
    (tmp_path / "a.txt").write_text("word\n")
    first = await watched.says("search_files", pattern="word")
    (tmp_path / "a.txt").write_text("word\nword\n")
    second = await watched.says("search_files", pattern="word")
    assert first != second and len(first) == len(second) == 1
    assert await watched.says("search_files", pattern="word") == [*second, unchanged(2)]


async def test_a_file_that_read_file_shows_again_is_told_to_be_the_same(watched: Watched, tmp_path: Path):
    (tmp_path / "a.txt").write_text("word\n")
    first, second, third = [await watched.says("read_file", path="a.txt") for _ in range(3)]
    assert first == ["1|word"]
    assert len(second) == 1 and "is unchanged since you read it" in second[0]
    assert third == ["1|word", unchanged(2)]


async def test_whoever_waits_for_a_process_asks_a_person_or_keeps_a_plan_may_ask_again(watched: Watched):
    watched.answer = Answered("r1", "answered", text="yes")
    asked = [await watched.says("clarify", question="Go on?") for _ in range(2)]
    listed = [await watched.says("process", action="list") for _ in range(2)]
    planned = [await watched.says("todo") for _ in range(2)]
    assert [[len(parts) for parts in both] for both in (asked, listed, planned)] == [[1, 1]] * 3


# Turns and memory


async def test_a_new_turn_begins_anew(watched: Watched):
    for why in ("a", "b"):
        await watched.says("fail", why=why)
    await watched.says("look", at="a")
    watched.turn += 1
    assert await watched.says("fail", why="a") == ["a"]
    assert await watched.says("fail", why="c") == ["c"]
    assert await watched.says("look", at="a") == ["a"]


async def test_only_so_many_calls_are_remembered(watched: Watched, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(repeats, "REMEMBERED", 2)
    heard = [await watched.says("look", at=at) for at in ("a", "b", "b", "c", "c", "b")]
    assert heard == [["a"], ["b"], ["b", unchanged(2)], ["c"], ["c", unchanged(2)], ["b"]]


# Settings


async def test_with_other_numbers_the_words_come_later(bare: Watched):
    bare.watch(ToolLoopGuardrails(warn_after=LoopCounts(exact_failure=3, same_tool_failure=4, no_progress=3)))
    assert [await bare.says("fail", why="a") for _ in range(3)] == [["a"], ["a"], ["a", exactly(3)]]
    assert await bare.says("fail", why="b") == ["b", in_a_row("fail", 4)]
    assert [await bare.says("look", at="a") for _ in range(3)] == [["a"], ["a"], ["a", unchanged(3)]]


async def test_without_warnings_nothing_is_said_and_without_a_hard_stop_everything_runs(bare: Watched):
    bare.watch(SILENT)
    assert [await bare.says("fail", why="a") for _ in range(10)] == [["a"]] * 10
    assert [await bare.says("look", at="a") for _ in range(10)] == [["a"]] * 10


async def test_a_hard_stop_does_not_run_the_very_same_failure_a_sixth_time(bare: Watched):
    bare.watch(STOPPING)
    heard = [await bare.says("fail", why="a") for _ in range(7)]
    assert heard[4] == ["a", exactly(5)]
    assert heard[5:] == [stopped("fail", "this very call has failed 5 times in the same way")] * 2
    assert await bare.says("fail", why="b") == ["b", in_a_row("fail", 6)]
    await bare.do("act")
    assert await bare.says("fail", why="a") == ["a"]


async def test_a_hard_stop_does_not_run_a_tool_after_eight_failures_in_a_row_until_the_next_turn(bare: Watched):
    bare.watch(STOPPING)
    heard = [await bare.says("fail", why=why) for why in "abcdefgh"]
    assert heard[-1] == ["h", in_a_row("fail", 8)]
    assert await bare.says("fail", why="i") == stopped("fail", "fail has failed 8 times in a row")
    assert await bare.says("look", at="a") == ["a"]
    bare.turn += 1
    assert await bare.says("fail", why="i") == ["i"]


async def test_a_hard_stop_does_not_look_a_sixth_time_until_something_was_done(bare: Watched):
    bare.watch(STOPPING)
    heard = [await bare.says("look", at="a") for _ in range(6)]
    assert heard[4] == ["a", unchanged(5)]
    assert heard[5] == stopped("look", "this very call has given the same 5 times; nothing has changed since")
    await bare.do("act")
    assert await bare.says("look", at="a") == ["a"]


async def test_a_hard_stop_has_numbers_of_its_own_and_needs_no_warnings(bare: Watched):
    bare.watch(
        ToolLoopGuardrails(
            warnings_enabled=False, hard_stop_enabled=True, hard_stop_after=HardStopCounts(exact_failure=2)
        )
    )
    assert [await bare.says("fail", why="a") for _ in range(2)] == [["a"]] * 2
    assert await bare.says("fail", why="a") == stopped("fail", "this very call has failed 2 times in the same way")
    assert [await bare.says("look", at="a") for _ in range(5)] == [["a"]] * 5


def test_what_the_settings_leave_out_is_as_it_would_be_without_them():
    given = {"hard_stop_enabled": True, "warn_after": {"no_progress": 4}, "hard_stop_after": {"exact_failure": 6}}
    file = convert({"tool_loop_guardrails": given}, {}, Path("config.yaml"))
    assert file.tool_loop_guardrails == ToolLoopGuardrails(
        warnings_enabled=True,
        hard_stop_enabled=True,
        warn_after=LoopCounts(exact_failure=2, same_tool_failure=3, no_progress=4),
        hard_stop_after=HardStopCounts(exact_failure=6, same_tool_failure=8, no_progress=5),
    )


def test_never_at_all_is_no_number_of_times():
    with pytest.raises(UserError, match=r"tool_loop_guardrails\.hard_stop_after\.no_progress"):
        convert({"tool_loop_guardrails": {"hard_stop_after": {"no_progress": 0}}}, {}, Path("config.yaml"))
