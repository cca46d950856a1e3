"""Sessions of the SDK's client with servers that others wrote, over our own processes."""

import os
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest
from _pytest.capture import CaptureManager
from mcp import Client
from mcp_types import TextContent

from hermes.mcp.environment import child_env
from hermes.mcp.stdio import StdioProcess
from tests.services import mcp_servers


@pytest.fixture(scope="module", autouse=True)
def servers(request: pytest.FixtureRequest) -> None:
    """Installed before the first test, with their progress on the screen."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    assert isinstance(capture, CaptureManager)
    with capture.global_and_fixture_disabled():
        mcp_servers.install()


def process(command: tuple[str, ...], folder: Path) -> StdioProcess:
    env = child_env(os.environ, {"HOME": str(folder)})
    return StdioProcess("it", command, env=env, cwd=str(folder), log=lambda line: None)


async def names(client: Client) -> set[str]:
    return {tool.name for tool in (await client.list_tools()).tools}


async def text(client: Client, tool: str, **args: object) -> str:
    result = await client.call_tool(tool, args)
    assert not result.is_error
    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


async def test_the_time_server_converts_a_time(tmp_path: Path):
    async with Client(server := process(mcp_servers.time_server(), tmp_path)) as client:
        assert await names(client) == {"get_current_time", "convert_time"}
        answer = await text(client, "convert_time", source_timezone="UTC", time="12:30", target_timezone="Asia/Tokyo")
        assert msgspec.json.decode(answer)["target"]["datetime"].endswith("T21:30:00+09:00")
    assert server.code == 0


@pytest.mark.needs("git")
async def test_the_git_server_sees_a_new_file(tmp_path: Path):
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    (tmp_path / "letter.txt").write_text("dear reader")
    async with Client(server := process(mcp_servers.git_server(tmp_path), tmp_path)) as client:
        assert {"git_status", "git_log", "git_commit"} <= await names(client)
        assert "letter.txt" in await text(client, "git_status", repo_path=str(tmp_path))
    assert server.code == 0


async def test_the_server_of_everything_echoes_and_offers_resources_and_prompts(tmp_path: Path):
    async with Client(server := process(mcp_servers.everything_server(), tmp_path)) as client:
        assert {"echo", "get-sum"} <= await names(client)
        assert await text(client, "echo", message="ü 漢字") == "Echo: ü 漢字"
        assert (await client.list_resources()).resources
        assert (await client.list_prompts()).prompts
    assert server.code == 0


@pytest.fixture
def url() -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command, env = mcp_servers.everything_over_http(port)
    server = subprocess.Popen(command, env={"PATH": os.environ["PATH"], **env}, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    try:
        assert any("listening on port" in line for line in iter(server.stderr.readline, ""))
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        server.terminate()
        server.communicate()


async def test_the_server_of_everything_answers_over_http(url: str):
    async with Client(url) as client:
        assert {"echo", "get-sum"} <= await names(client)
        assert await text(client, "echo", message="over HTTP") == "Echo: over HTTP"
