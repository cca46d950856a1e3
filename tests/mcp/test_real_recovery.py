"""Servers that others wrote, killed and restarted under Hermes' own client: they come back, and the next call has its result."""

import asyncio
import os
import signal
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from hermes.config import McpServer
from hermes.mcp.contract import CallTool, GetPrompt, ListPrompts, ListResources, Operation, ReadResource
from hermes.mcp.server import Server
from tests.mcp.rig import Person, until
from tests.services import mcp_servers

ECHO = CallTool("echo", {"message": "still there"})
TIME = CallTool("convert_time", {"source_timezone": "UTC", "time": "12:30", "target_timezone": "Asia/Tokyo"})
READING: list[Operation] = [
    ListResources(),
    ReadResource("demo://resource/dynamic/text/1"),
    ListPrompts(),
    GetPrompt("simple-prompt", {}),
]
SLOW = 60.0
"""Seconds for a program that starts in one on a machine with nothing else to do."""


@pytest.fixture(scope="module", autouse=True)
def installed() -> None:
    mcp_servers.install()


@asynccontextmanager
async def connected(settings: McpServer, folder: Path) -> AsyncIterator[Server]:
    server = Server("real", settings, environ={**os.environ, "HOME": str(folder)})
    server.start()
    try:
        await until(lambda: server.status().state == "ready", SLOW)
        yield server
    finally:
        await server.close()


def started(command: tuple[str, ...], folder: Path) -> McpServer:
    return McpServer(command=command[0], args=command[1:], cwd=str(folder))


async def said(server: Server, op: Operation) -> Any:
    result = await server.request(op, Person())
    return result.content[0].text if isinstance(op, CallTool) else result


@pytest.mark.needs("git")
@pytest.mark.parametrize("which", ["time", "git", "everything"])
async def test_a_process_that_is_killed_is_started_anew_and_answers(tmp_path: Path, which: str):
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    status = CallTool("git_status", {"repo_path": str(tmp_path)})
    command, op, words = {
        "time": (mcp_servers.time_server(), TIME, "21:30"),
        "git": (mcp_servers.git_server(tmp_path), status, "No commits yet"),
        "everything": (mcp_servers.everything_server(), ECHO, "Echo: still there"),
    }[which]
    async with connected(started(command, tmp_path), tmp_path) as server:
        assert words in await said(server, op)
        for _ in range(2):
            before = server.status()
            assert before.pid is not None
            os.kill(before.pid, signal.SIGKILL)
            await until(lambda: server.status().restarts > before.restarts, SLOW)  # noqa: B023
            assert words in await said(server, op)
        assert (server.status().restarts, server.status().breaker) == (2, "closed")


class Everything:
    """server-everything over HTTP at one address, which can be stopped and started again."""

    def __init__(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self._port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self._port}/mcp"

    def start(self) -> None:
        command, env = mcp_servers.everything_over_http(self._port)
        self._process = subprocess.Popen(
            command, env={"PATH": os.environ["PATH"], **env}, stderr=subprocess.PIPE, text=True
        )
        assert self._process.stderr is not None
        assert any("listening on port" in line for line in iter(self._process.stderr.readline, ""))

    def stop(self) -> None:
        self._process.kill()
        self._process.communicate()


async def test_a_restarted_http_server_has_forgotten_the_session_and_every_operation_recovers(tmp_path: Path):
    everything = Everything()
    await asyncio.to_thread(everything.start)
    try:
        async with connected(McpServer(url=everything.url), tmp_path) as server:
            for number, op in enumerate([ECHO, *READING], 1):
                await asyncio.to_thread(everything.stop)
                await asyncio.to_thread(everything.start)
                assert await said(server, op)
                assert (server.status().restarts, server.status().breaker) == (number, "closed")
    finally:
        everything.stop()


async def test_calls_made_while_an_http_server_is_down_succeed_once_it_is_back(tmp_path: Path):
    everything = Everything()
    await asyncio.to_thread(everything.start)
    try:
        async with connected(McpServer(url=everything.url), tmp_path) as server:
            await asyncio.to_thread(everything.stop)
            calls = [asyncio.create_task(said(server, ECHO)) for _ in range(16)]
            await asyncio.sleep(0.3)
            assert not any(call.done() for call in calls)
            await asyncio.to_thread(everything.start)
            assert await asyncio.gather(*calls) == ["Echo: still there"] * 16
    finally:
        everything.stop()
