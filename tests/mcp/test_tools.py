"""A server's offers as tools: which there are, what is asked of the gate, what comes back."""

import json
from typing import Any

import mcp_types as wire
import pytest
from msgspec import Raw

from hermes.config import McpServer, ToolChoice
from hermes.mcp.contract import (
    Caller,
    CallTool,
    Catalog,
    GetPrompt,
    ListPrompts,
    ListResources,
    NeedsLogin,
    Operation,
    ReadResource,
    ToolInfo,
)
from hermes.mcp.tools import server_tools
from hermes.protocol.actions import Action, CallServer
from hermes.protocol.errors import Denied, ToolError
from hermes.protocol.items import Text
from hermes.protocol.models import ToolSpec
from hermes.protocol.tools import Result, Tool, parse_args

WORD = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


def info(
    name: str, *, schema: Any = WORD, read_only: bool = False, about: str = "Says it.", title: str = ""
) -> ToolInfo:
    return ToolInfo(
        name=name,
        title=title,
        description=about,
        schema=Raw(json.dumps(schema).encode()),
        read_only=read_only,
        idempotent=False,
        contract=f"hash of {name}",
    )


class Echo:
    """A server that answers from a table and notes what it was asked, and by whom."""

    name = "echo"

    def __init__(self, catalog: Catalog, **answers: Any) -> None:
        self.catalog = catalog
        self.answers = answers
        self.asked: list[tuple[Operation, Any]] = []

    async def request(self, op: Operation, caller: Caller, *, timeout: float | None = None) -> Any:
        self.asked.append((op, caller))
        answer = self.answers[type(op).__name__]
        if isinstance(answer, Exception):
            raise answer
        return answer


class Call:
    """The context of one call: a gate that notes and may refuse."""

    session = "s1"

    def __init__(self, *, refuses: bool = False) -> None:
        self.judged: list[Action] = []
        self._refuses = refuses

    async def permit(self, action: Action) -> None:
        self.judged.append(action)
        if self._refuses:
            raise Denied("no")

    async def keep(self, data: bytes, media_type: str) -> str:
        return "blob"


def tools_of(server: Echo, **settings: Any) -> dict[str, Tool]:
    found = server_tools(server, McpServer(**settings), lambda ctx: f"caller of {ctx.session}")  # type: ignore[arg-type,return-value]
    return {tool.spec.name: tool for tool in found}


async def run(tool: Tool, args: Any, ctx: Call) -> Result:
    return await tool.run(ctx, parse_args(tool, json.dumps(args)))  # type: ignore[arg-type]


def said(text: str, *, error: bool = False) -> wire.CallToolResult:
    return wire.CallToolResult(content=[wire.TextContent(text=text)], is_error=error)


# Which tools there are


def test_a_tool_is_declared_as_its_server_describes_it() -> None:
    tools = tools_of(Echo(Catalog(tools=(info("say", title="Say it"), info("look", read_only=True)))))
    say, look = tools["mcp__echo__say"], tools["mcp__echo__look"]
    assert say.spec == ToolSpec("mcp__echo__say", "Says it.", Raw(json.dumps(WORD, separators=(",", ":")).encode()))
    assert (say.kind, say.toolset, say.effect, say.parallel, say.title({})) == (
        "other",
        "mcp-echo",
        True,
        True,
        "echo: Say it",
    )
    assert (look.kind, look.effect, look.parallel, look.title({})) == ("read", False, True, "echo: look")


@pytest.mark.parametrize(
    ("args", "title"),
    [
        ({"word": "hello\n there"}, "echo: say hello there"),
        ({"words": ["a"], "times": 3, "word": "b"}, "echo: say 3"),
        ({"word": "x" * 5_000}, f"echo: say {'x' * 69}…"),
        ({"word": "a\u202eb"}, "echo: say ab"),
        ({"words": []}, "echo: say"),
    ],
)
def test_a_call_is_shown_with_what_it_is_about(args: dict[str, Any], title: str) -> None:
    assert tools_of(Echo(Catalog(tools=(info("say"),))))["mcp__echo__say"].title(args) == title


@pytest.mark.parametrize(
    ("choice", "left"),
    [
        (ToolChoice(), ["get_a", "get_b", "put_a"]),
        (ToolChoice(include=("get_*",)), ["get_a", "get_b"]),
        (ToolChoice(exclude=("get_*",)), ["put_a"]),
        (ToolChoice(include=("get_a", "put_a"), exclude=("*",)), ["get_a", "put_a"]),
        (ToolChoice(include=("nothing",)), []),
    ],
)
def test_tools_are_chosen_by_their_own_names_and_include_wins(choice: ToolChoice, left: list[str]) -> None:
    server = Echo(Catalog(tools=(info("get_a"), info("get_b"), info("put_a"))))
    assert list(tools_of(server, tools=choice)) == [f"mcp__echo__{name}" for name in left]


def test_what_is_left_out_renames_nothing() -> None:
    server = Echo(Catalog(tools=(info("a-b"), info("a_b"))))
    dashed = next(name for name in tools_of(server) if name != "mcp__echo__a_b")
    assert list(tools_of(server, tools=ToolChoice(exclude=("a_b",)))) == [dashed]


def test_of_two_tools_with_the_same_name_the_first_is_used() -> None:
    tools = tools_of(Echo(Catalog(tools=(info("say", about="First."), info("say", about="Second.")))))
    assert [tool.spec.description for tool in tools.values()] == ["First."]


def test_resources_and_prompts_have_tools_where_the_server_has_them_and_the_settings_allow() -> None:
    both = Echo(Catalog(resources=True, prompts=True))
    reading = ["mcp__echo__list_resources", "mcp__echo__read_resource"]
    prompting = ["mcp__echo__list_prompts", "mcp__echo__get_prompt"]
    assert list(tools_of(both)) == reading + prompting
    assert list(tools_of(both, tools=ToolChoice(resources=False))) == prompting
    assert list(tools_of(both, tools=ToolChoice(prompts=False))) == reading
    assert list(tools_of(Echo(Catalog(prompts=True)))) == prompting
    assert tools_of(Echo(Catalog())) == {}


def test_a_servers_own_tool_keeps_the_name_that_a_resource_tool_would_have() -> None:
    server = Echo(Catalog(tools=(info("list_resources", about="Its own."),), resources=True))
    names = list(tools_of(server))
    assert tools_of(server)["mcp__echo__list_resources"].spec.description == "Its own."
    assert (names[0], names[2]) == ("mcp__echo__list_resources", "mcp__echo__read_resource")
    assert names[1].startswith("mcp__echo__list_resources_")


# What a call does


async def test_a_call_asks_the_gate_with_its_contract_and_then_the_server() -> None:
    server, ctx = Echo(Catalog(tools=(info("say"),)), CallTool=said("hello")), Call()
    result = await run(tools_of(server)["mcp__echo__say"], {"text": "hi"}, ctx)
    assert ctx.judged == [CallServer("echo", "say", '{"text":"hi"}', contract="hash of say")]
    assert server.asked == [(CallTool("say", {"text": "hi"}), "caller of s1")]
    assert result == Result(parts=(Text("hello"),), source="mcp:echo", trust="untrusted")


async def test_a_read_only_tool_says_so_to_the_gate() -> None:
    server, ctx = Echo(Catalog(tools=(info("look", read_only=True),)), CallTool=said("x")), Call()
    await run(tools_of(server)["mcp__echo__look"], {"text": "hi"}, ctx)
    assert ctx.judged == [CallServer("echo", "look", '{"text":"hi"}', read_only=True, contract="hash of look")]


async def test_a_call_that_is_refused_never_reaches_the_server() -> None:
    server = Echo(Catalog(tools=(info("say"),)), CallTool=said("hello"))
    with pytest.raises(Denied):
        await run(tools_of(server)["mcp__echo__say"], {"text": "hi"}, Call(refuses=True))
    assert server.asked == []


async def test_arguments_that_do_not_fit_are_neither_judged_nor_sent() -> None:
    server, ctx = Echo(Catalog(tools=(info("say"),)), CallTool=said("hello")), Call()
    with pytest.raises(ToolError, match=r"^mcp__echo__say did not run: text: 5 is not of type 'string'$"):
        await run(tools_of(server)["mcp__echo__say"], {"text": 5}, ctx)
    assert (ctx.judged, server.asked) == ([], [])


async def test_a_tool_with_a_broken_schema_can_be_called_all_the_same() -> None:
    broken = {"type": "object", "properties": {"a": {"type": "whatever"}}}
    server = Echo(Catalog(tools=(info("say", schema=broken),)), CallTool=said("hello"))
    result = await run(tools_of(server)["mcp__echo__say"], {"a": 1}, Call())
    assert result.parts == (Text("hello"),)


async def test_an_error_of_the_tool_itself_is_a_failed_result() -> None:
    server = Echo(Catalog(tools=(info("say"),)), CallTool=said("no such city", error=True))
    result = await run(tools_of(server)["mcp__echo__say"], {"text": "hi"}, Call())
    assert result == Result(parts=(Text("no such city"),), source="mcp:echo", trust="untrusted", failed=True)


async def test_the_words_of_a_server_that_failed_are_not_trusted_either() -> None:
    server = Echo(Catalog(tools=(info("say"),)), CallTool=NeedsLogin("echo", "log in: hermes mcp login echo"))
    result = await run(tools_of(server)["mcp__echo__say"], {"text": "hi"}, Call())
    assert result == Result(
        parts=(Text("log in: hermes mcp login echo"),), source="mcp:echo", trust="untrusted", failed=True
    )


async def test_each_resource_and_prompt_tool_asks_for_what_it_is_named_after() -> None:
    server = Echo(
        Catalog(resources=True, prompts=True),
        ListResources=wire.ListResourcesResult(resources=[wire.Resource(uri="a://1", name="one")]),
        ReadResource=wire.ReadResourceResult(contents=[wire.TextResourceContents(uri="a://1", text="hello")]),
        ListPrompts=wire.ListPromptsResult(prompts=[wire.Prompt(name="hi")]),
        GetPrompt=wire.GetPromptResult(
            messages=[wire.PromptMessage(role="user", content=wire.TextContent(text="Hi!"))]
        ),
    )
    tools, ctx = tools_of(server), Call()
    given = {
        "list_resources": {},
        "read_resource": {"uri": "a://1"},
        "list_prompts": {},
        "get_prompt": {"name": "hi", "arguments": {"to": "Ada"}},
    }
    found = {name: await run(tools[f"mcp__echo__{name}"], args, ctx) for name, args in given.items()}
    assert [op for op, _ in server.asked] == [
        ListResources(),
        ReadResource("a://1"),
        ListPrompts(),
        GetPrompt("hi", {"to": "Ada"}),
    ]
    assert {name: result.parts for name, result in found.items()} == {
        "list_resources": (Text("a://1: one"),),
        "read_resource": (Text("hello"),),
        "list_prompts": (Text("hi()"),),
        "get_prompt": (Text("[user]\nHi!"),),
    }
    assert {(result.source, result.trust) for result in found.values()} == {("mcp:echo", "untrusted")}
    assert ctx.judged[1] == CallServer("echo", "read_resource", '{"uri":"a://1"}', read_only=True)
