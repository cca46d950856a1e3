"""Tools that are not in the prompt are found by what they do and called by name."""

from typing import Any

import msgspec
import pytest

from hermes.protocol.models import ToolSpec
from hermes.protocol.tools import Tool, ToolContext, said
from hermes.tools.tool_search import rank, search_and_call, words

DESCRIBED = {
    "mcp__time__convert_time": "Convert a time between time zones.",
    "mcp__git__git_log": "Shows the commit logs of a repository.",
    "mcp__git__git_diff_unstaged": "Shows changes in the working directory that are not yet staged.",
    "mcp__calendar__createEvent": "Creates an event, with attendees who are invited.",
    "mcp__weather__forecast": "The weather of the next days for a city.",
}


async def nothing(ctx: ToolContext, args: Any) -> Any:
    return said("ran")


def make(name: str, description: str) -> Tool:
    schema = msgspec.Raw(b'{"type":"object"}')
    return Tool(spec=ToolSpec(name, description, schema), args=dict[str, Any], run=nothing)


TOOLS = [make(name, description) for name, description in DESCRIBED.items()]


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("convert timezone time", "mcp__time__convert_time"),
        ("commit log", "mcp__git__git_log"),
        ("what changed and is unstaged", "mcp__git__git_diff_unstaged"),
        ("create calendar events", "mcp__calendar__createEvent"),
        ("mcp__git__git_log", "mcp__git__git_log"),
        ("invite attendees to an event", "mcp__calendar__createEvent"),
    ],
)
def test_the_tool_that_does_it_comes_first(query: str, first: str):
    assert rank(query, TOOLS)[0].spec.name == first


def test_words_have_one_form_whatever_their_case_number_or_hump():
    assert words("createEvents HTTPServer git_logs 日本") == ["create", "event", "http", "server", "git", "log", "日本"]


async def test_a_search_gives_name_description_and_schema_and_says_what_there_is_when_nothing_fits():
    search = search_and_call(lambda: TOOLS)[0]
    found = await search.run(None, search.args(query="weather"))  # type: ignore[arg-type]
    shown = 'mcp__weather__forecast: The weather of the next days for a city.\n{"type":"object"}'
    assert found == said(shown, trust="trusted")
    missed = await search.run(None, search.args(query="zzz"))  # type: ignore[arg-type]
    assert missed.parts[0].text.startswith("[nothing fits; there are 5 tools: mcp__calendar__createEvent, ")  # type: ignore[union-attr]


async def test_tool_call_runs_the_tool_that_it_names():
    class Ctx:
        called: tuple[str, str] | None = None

        async def call(self, name: str, args: str) -> Any:
            self.called = (name, args)
            return said("ran")

    ctx = Ctx()
    call = search_and_call(lambda: TOOLS)[1]
    assert await call.run(ctx, call.args(name="x", arguments={"a": 1})) == said("ran")  # type: ignore[arg-type]
    assert ctx.called == ("x", '{"a":1}')
