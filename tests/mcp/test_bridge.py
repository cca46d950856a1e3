"""From the model's call to a real server and back: every kind of answer, and every wish of a server."""

import hashlib
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hermes.config import McpServer, Settings, load
from hermes.mcp.chaos.plan import Plan
from hermes.mcp.chaos.server import ChaosServer
from hermes.mcp.contract import Sample
from hermes.mcp.make import make_server
from hermes.mcp.oauth.tokens import TokenFile
from hermes.mcp.tools import server_tools
from hermes.protocol.actions import Action
from hermes.protocol.errors import ToolError
from hermes.protocol.events import Answered, Channel, Form, Request
from hermes.protocol.items import Image, Text
from hermes.protocol.tools import Result, Tool, parse_args
from tests.services.auth_server import AuthServer


class Call:
    """The context of one call, and the caller that servers may turn to."""

    session = "s1"
    roots = ("/srv/work",)

    def __init__(self) -> None:
        self.judged: list[Action] = []
        self.asked: list[Request] = []
        self.sampled: list[Sample] = []
        self.shown: list[str] = []
        self.kept: dict[str, bytes] = {}

    async def permit(self, action: Action) -> None:
        self.judged.append(action)

    async def keep(self, data: bytes, media_type: str) -> str:
        ref = hashlib.sha256(data).hexdigest()
        self.kept[ref] = data
        return ref

    def emit(self, channel: Channel, text: str) -> None:
        self.shown.append(text)

    async def ask(self, request: Request, timeout: float) -> Answered | None:
        self.asked.append(request)
        return Answered("r", "answered", text="Ada")

    async def sample(self, server: str, wish: Sample) -> Mapping[str, Any]:
        self.sampled.append(wish)
        return {"role": "assistant", "content": {"type": "text", "text": "forty-two"}, "model": "m"}

    def progress(self, text: str) -> None:
        self.shown.append(text)


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return load({"HERMES_HOME": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"})


@asynccontextmanager
async def tools_of(url: str, settings: Settings, **more: Any) -> AsyncIterator[dict[str, Tool]]:
    entry = McpServer(url=url, timeout=10, **more)
    server = make_server("chaos", entry, settings)
    server.start()
    try:
        assert await server.settled(20), server.status()
        found = server_tools(server, entry, lambda ctx: ctx)  # type: ignore[arg-type,return-value]
        yield {tool.spec.name.removeprefix("mcp__chaos__"): tool for tool in found}
    finally:
        await server.close()


async def run(tool: Tool, ctx: Call, **args: Any) -> Result:
    return await tool.run(ctx, parse_args(tool, json.dumps(args)))  # type: ignore[arg-type]


@pytest.mark.parametrize("era", ["old", "modern"])
async def test_every_kind_of_answer_becomes_parts_of_a_result(settings: Settings, era: Any) -> None:
    async with ChaosServer(Plan(era=era)) as chaos, tools_of(chaos.url, settings) as tools:
        ctx = Call()
        assert await run(tools["echo"], ctx, text="hi") == Result(
            parts=(Text("hi"),), source="mcp:chaos", trust="untrusted"
        )
        assert (await run(tools["fail"], ctx, text="no")).failed
        [picture] = [part for part in (await run(tools["image"], ctx)).parts if isinstance(part, Image)]
        assert (picture.media_type, picture.blob in ctx.kept) == ("image/png", True)
        [link] = (await run(tools["link"], ctx)).parts
        assert isinstance(link, Text)
        uri = link.text.partition("[resource: ")[2].partition(" ")[0].rstrip("]:")
        assert (await run(tools["read_resource"], ctx, uri=uri)).failed is False
        [listed] = (await run(tools["list_resources"], ctx)).parts
        assert isinstance(listed, Text)
        assert uri in listed.text
        [prompts] = (await run(tools["list_prompts"], ctx)).parts
        assert isinstance(prompts, Text)
        assert len(prompts.text.splitlines()) == 2
        assert len(ctx.judged) == 7


@pytest.mark.parametrize("era", ["old", "modern"])
async def test_what_a_server_wishes_goes_to_whoever_called_it(settings: Settings, era: Any) -> None:
    async with ChaosServer(Plan(era=era)) as chaos, tools_of(chaos.url, settings) as tools:
        ctx = Call()
        assert "forty-two" in str((await run(tools["sample"], ctx)).parts)
        assert "file:///srv/work" in str((await run(tools["roots"], ctx)).parts)
        assert "Ada" in str((await run(tools["ask"], ctx)).parts)
        await run(tools["progress"], ctx, steps=3)
        assert [type(request) for request in ctx.asked] == [Form]
        assert len(ctx.sampled) == 1
        assert [line.split()[0] for line in ctx.shown] == ["1/3", "2/3", "3/3"]


async def test_a_call_that_does_not_fit_is_not_sent(settings: Settings) -> None:
    async with ChaosServer() as chaos, tools_of(chaos.url, settings) as tools:
        with pytest.raises(ToolError, match="mcp__chaos__echo did not run: text: 5 is not of type 'string'"):
            await run(tools["echo"], Call(), text=5)
        assert chaos.counts.requests.get("tools/call", 0) == 0


async def test_a_server_with_a_login_is_made_with_the_tokens_of_the_home(settings: Settings) -> None:
    async with AuthServer() as guarded:
        entry = McpServer(url=guarded.url, auth="oauth")
        server = make_server("mine", entry, settings)
        server.start()
        try:
            await server.settled(10)
            status = server.status()
        finally:
            await server.close()
    assert (status.state, TokenFile(settings.home / "mcp-tokens", "mine").read().tokens) == ("needs_auth", None)
