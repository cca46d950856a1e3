"""The official SDK's client finds in the fault server a proper server: in both eras, over both transports."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hermes.mcp.chaos.faults import Fault
from hermes.mcp.chaos.plan import Era, Plan
from hermes.mcp.chaos.server import ChaosServer
from hermes.mcp.chaos.stdio import StdioChaos

VERSIONS = {"old": "2025-11-25", "modern": "2026-07-28", "both": "2026-07-28"}


@asynccontextmanager
async def connected(way: str, era: Era, folder: Path) -> AsyncIterator[Any]:
    from mcp import Client, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from mcp_types import CreateMessageResult, ElicitResult, ListRootsResult, TextContent

    async def elicit(context, params):
        return ElicitResult(action="accept", content={"color": "red"})

    async def sample(context, params):
        return CreateMessageResult(role="assistant", content=TextContent(type="text", text="word"), model="m")

    async def roots(context):
        return ListRootsResult(roots=[])

    asked: dict[str, Any] = {
        "elicitation_callback": elicit,
        "sampling_callback": sample,
        "list_roots_callback": roots,
    }
    if way == "stdio":
        first, *rest = StdioChaos(folder, era=era).command
        async with Client(stdio_client(StdioServerParameters(command=first, args=rest)), **asked) as client:
            yield client
    else:
        async with ChaosServer(Plan(era=era, stream=way == "events")) as server:
            async with Client(server.url, **asked) as client:
                yield client


@pytest.mark.parametrize("way", ["http", "events", "stdio"])
@pytest.mark.parametrize("era", ["old", "modern", "both"])
async def test_the_sdk_can_use_all_that_is_offered(way: str, era: Era, tmp_path):
    seen: list[Any] = []

    async def progress(step, steps, text):
        seen.append((step, steps, text))

    async with connected(way, era, tmp_path) as client:

        async def said(tool: str, **arguments: Any) -> str:
            return (await client.call_tool(tool, arguments)).content[0].text

        assert client.protocol_version == VERSIONS[era]
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert tools["echo"].annotations.read_only_hint is True
        assert (tools["count"].annotations.read_only_hint, tools["count"].annotations.idempotent_hint) == (False, False)
        assert await said("echo", text="hello") == "hello"
        assert await said("ask") == '{"action":"accept","content":{"color":"red"}}'
        assert await said("sample") == '{"type":"text","text":"word"}'
        assert await said("roots") == "[]"
        await client.call_tool("progress", {"steps": 2}, progress_callback=progress)
        assert seen == [(1.0, 2.0, "step 1"), (2.0, 2.0, "step 2")]
        failed = await client.call_tool("fail", {"text": "no luck"})
        assert (failed.is_error, failed.content[0].text) == (True, "no luck")
        assert (await client.call_tool("image", {})).content[0].type == "image"
        assert (await client.call_tool("link", {})).content[0].uri == "chaos://greeting"
        assert len((await client.list_resources()).resources) == 3
        assert (await client.read_resource("chaos://greeting")).contents[0].text == "Hello from chaos."
        assert [prompt.name for prompt in (await client.list_prompts()).prompts] == ["greet", "rest"]
        assert (await client.get_prompt("greet", {"who": "Ada"})).messages[0].content.text == "Greet Ada."


async def test_the_bare_sdk_stays_stuck_after_its_session_was_dropped():
    from mcp import Client, MCPError

    async with ChaosServer() as server, Client(server.url) as client:
        await server.arm(Fault(kind="expire"))
        for _ in range(2):
            with pytest.raises(MCPError, match="Session not found"):
                await client.call_tool("echo", {"text": "x"})
        assert (server.counts.initializations, server.counts.runs) == (1, {})
