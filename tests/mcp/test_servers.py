import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from hermes.config import McpServer
from hermes.mcp.chaos.faults import Fault
from hermes.mcp.chaos.server import ChaosServer
from hermes.mcp.server import Server
from hermes.mcp.servers import Servers
from tests.mcp.rig import COUNT, Person, until


def make(name: str, settings: McpServer) -> Server:
    return Server(name, settings, environ={"PATH": os.defpath}, jitter=lambda: 0.0)


@asynccontextmanager
async def running(settings: dict[str, McpServer]) -> AsyncIterator[Servers]:
    servers = Servers(settings, make)
    servers.start()
    try:
        yield servers
    finally:
        await servers.close()


async def test_servers_connect_side_by_side_and_a_slow_one_delays_nobody() -> None:
    async with ChaosServer() as good, ChaosServer() as slow:
        await slow.arm(Fault(kind="slow", seconds=30, times=10))
        settings = {"good": McpServer(url=good.url), "slow": McpServer(url=slow.url), "off": McpServer(enabled=False)}
        async with running(settings) as servers:
            ready = servers.get("good")
            assert ready
            await until(lambda: ready.status().state == "ready")
            await servers.settle(0.05)
            assert [(one.name, one.state) for one in servers.statuses()] == [("good", "ready"), ("slow", "connecting")]


async def test_waiting_ends_as_soon_as_each_is_ready_or_has_failed_once() -> None:
    async with ChaosServer() as good, ChaosServer() as bad:
        await bad.arm(Fault(kind="status", status=500, times=1000))
        async with running({"good": McpServer(url=good.url), "bad": McpServer(url=bad.url)}) as servers:
            await servers.settle(60)
            states = {one.name: one.state for one in servers.statuses()}
            assert states["good"] == "ready"
            assert states["bad"] in ("backoff", "connecting", "parked")


async def test_there_is_no_server_without_a_record() -> None:
    async with running({}) as servers:
        assert servers.get("nobody") is None


async def test_new_settings_touch_only_what_they_change() -> None:
    async with ChaosServer() as kept, ChaosServer() as changed, ChaosServer() as added:
        before = {
            "kept": McpServer(url=kept.url),
            "changed": McpServer(url=changed.url),
            "gone": McpServer(url=kept.url),
        }
        after = {
            "kept": McpServer(url=kept.url),
            "changed": McpServer(url=changed.url, timeout=5),
            "added": McpServer(url=added.url),
        }
        async with running(before) as servers:
            await servers.settle(10)
            old = {server.name: server for server in servers.all()}
            await servers.reload(after)
            await servers.settle(10)
            assert {one.name: one.state for one in servers.statuses()} == dict.fromkeys(after, "ready")
            assert servers.get("kept") is old["kept"]
            assert servers.get("changed") is not old["changed"]
            assert old["gone"].status().state == old["changed"].status().state == "closed"
            assert (kept.counts.initializations, kept.counts.sessions, added.counts.initializations) == (2, 1, 1)


async def test_whoever_watches_hears_of_every_server_and_of_those_that_come_later() -> None:
    async with ChaosServer() as chaos, running({}) as servers:
        heard: list[str] = []
        end = servers.watch(lambda server: heard.append(f"{server.name} {server.status().state}"))
        await servers.reload({"late": McpServer(url=chaos.url)})
        await servers.settle(10)
        assert heard[-1] == "late ready"
        end()
        await servers.reload({})
        assert heard[-1] == "late ready"


async def test_a_closed_set_of_servers_leaves_no_session_behind() -> None:
    async with ChaosServer() as chaos:
        async with running({"one": McpServer(url=chaos.url)}) as servers:
            await servers.settle(10)
            server = servers.get("one")
            assert server
            await server.request(COUNT, Person())
            assert chaos.counts.sessions == 1
        assert (chaos.counts.sessions, chaos.counts.requests["DELETE"]) == (0, 1)


@pytest.mark.parametrize("module", ["hermes.mcp.servers", "hermes.mcp.server"])
def test_the_sdk_is_not_loaded_before_a_server_connects(module: str) -> None:
    heavy = "[name for name in ('mcp', 'mcp_types', 'httpx2', 'pydantic', 'anyio') if name in sys.modules]"
    done = subprocess.run(
        [sys.executable, "-c", f"import sys, {module}; print({heavy})"], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
