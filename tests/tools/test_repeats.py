from pathlib import Path
from typing import Any

import pytest

from hermes.protocol.errors import Denied, HermesError, TerminalError, ToolError
from hermes.protocol.tools import Result, Tool, ToolContext, said
from hermes.tools.declare import tool
from hermes.tools.repeats import Repeats
from tests.tools.context import Context


@pytest.fixture
def watched(ctx: Context) -> Context:
    """A session whose tools are watched."""
    repeats = Repeats()
    ctx.tools = {name: repeats.watched(one) for name, one in ctx.tools.items()}
    return ctx


async def failure(ctx: Context, name: str, **args: Any) -> str:
    with pytest.raises(ToolError) as caught:
        await ctx.do(name, **args)
    return str(caught.value)


def told(times: int) -> str:
    return f"[this very call has failed {times} times in the same way; do something else]"


async def test_the_second_failure_of_the_very_same_call_says_so(watched: Context):
    first, other, second, third = [
        await failure(watched, "read_file", path=path) for path in ("no", "none", "no", "no")
    ]
    assert "none does not exist" in other and told(2) not in other
    assert [second, third] == [f"{first}\n{told(2)}", f"{first}\n{told(3)}"]


async def test_a_command_that_fails_with_the_same_words_counts_and_with_others_does_not(watched: Context):
    same = [await watched.do("terminal", command="echo no; exit 3") for _ in range(2)]
    other = [await watched.do("terminal", command="echo $RANDOM$RANDOM; exit 3") for _ in range(2)]
    assert [result.failed for result in (*same, *other)] == [True] * 4
    assert [len(result.parts) for result in (*same, *other)] == [1, 2, 1, 1]
    assert same[1].parts == (*same[0].parts, said(told(2)).parts[0])


async def test_an_effect_that_went_well_may_have_changed_what_will_happen(watched: Context, tmp_path: Path):
    (tmp_path / "yes").touch()
    first = await failure(watched, "read_file", path="no")
    await watched.do("write_file", path="yes", content="x")
    assert await failure(watched, "read_file", path="no") == first
    await watched.do("read_file", path="yes")
    assert await failure(watched, "read_file", path="no") == f"{first}\n{told(2)}"


@pytest.mark.parametrize(("error", "words"), [(Denied("no"), "no"), (TerminalError("gone"), f"gone\n{told(2)}")])
async def test_a_refusal_is_left_as_it_is_and_a_lost_terminal_is_told(ctx: Context, error: HermesError, words: str):
    async def act(ctx: ToolContext) -> Result:
        """Fail."""
        raise error

    acting: Tool = Repeats().watched(tool(act, kind="other", toolset="acting"))
    ctx.tools = {"act": acting}
    for expected in (str(error), words):
        with pytest.raises(HermesError) as caught:
            await ctx.do("act")
        assert str(caught.value) == expected
