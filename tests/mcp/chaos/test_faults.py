"""Each fault over HTTP does what its name says, at the moment and to the request that it was armed for."""

import asyncio
import time

import httpx2
import pytest

from hermes.mcp.chaos.faults import LOST_TEXTS, Fault, Lost, When
from hermes.mcp.chaos.plan import Plan
from hermes.mcp.chaos.server import ChaosServer
from tests.mcp.chaos.wire import Wire, request, text_of


@pytest.mark.parametrize(
    ("lost", "status", "text"),
    [
        ("404", 404, "Session not found"),
        ("400", 400, "Bad Request: No valid session ID provided"),
        ("bare-400", 400, "Bad Request: Server not initialized"),
    ],
)
async def test_a_dropped_session_is_refused_before_execution(lost: Lost, status: int, text: str):
    async with ChaosServer() as server, Wire(server) as wire:
        await server.arm(Fault(kind="expire", lost=lost))
        for _ in range(2):
            answer = await wire.call("count", key="k")
            assert (answer.status_code, answer.json()["error"]["message"]) == (status, text)
        assert (server.counts.keys, server.counts.sessions) == ({}, 0)


@pytest.mark.parametrize("text", LOST_TEXTS)
async def test_a_dropped_session_can_be_an_error_on_a_200(text: str):
    async with ChaosServer() as server, Wire(server) as wire:
        await server.arm(Fault(kind="expire", lost="rpc", text=text))
        answer = await wire.post(request("ping", number=5))
        assert (answer.status_code, answer.json()) == (
            200,
            {"jsonrpc": "2.0", "id": 5, "error": {"code": -32000, "message": text}},
        )


async def test_a_new_session_works_after_the_old_one_was_dropped():
    async with ChaosServer() as server, Wire(server) as wire:
        await server.arm(Fault(kind="expire"))
        async with Wire(server) as fresh:
            assert text_of((await fresh.call("echo", text="x")).json()) == "x"
        assert (await wire.call("echo", text="x")).status_code == 404
        assert (server.counts.initializations, server.counts.opened, server.counts.sessions) == (2, 2, 1)


@pytest.mark.parametrize(
    ("fault", "headers"),
    [
        (Fault(kind="status", status=401), {"www-authenticate": "invalid_token"}),
        (Fault(kind="status", status=403, text="files:write"), {"www-authenticate": 'scope="files:write"'}),
        (Fault(kind="status", status=429, seconds=3), {"retry-after": "3"}),
        (Fault(kind="status", status=503, seconds=0.5), {"retry-after": "0.5"}),
        (Fault(kind="status", status=500), {"content-type": "text/plain"}),
        (Fault(kind="status", status=502), {"content-type": "text/html"}),
    ],
)
async def test_a_status_comes_once_and_instead_of_the_execution(fault: Fault, headers: dict[str, str]):
    async with ChaosServer() as server, Wire(server) as wire:
        await server.arm(fault)
        first, second = await wire.call("count", key="k"), await wire.call("count", key="k")
        assert (first.status_code, second.status_code) == (fault.status, 200)
        for name, part in headers.items():
            assert part in first.headers[name]
        assert (server.counts.keys, server.counts.faults) == ({"k": 1}, 1)


async def test_a_fault_strikes_as_often_as_it_says_and_only_its_method_and_tool():
    async with ChaosServer() as server, Wire(server) as wire:
        await server.arm(
            Fault(kind="status", method="resources/list", times=2), Fault(kind="status", tool="echo", status=503)
        )
        asked = [request("resources/list")] * 3 + [request("tools/list")]
        statuses = [(await wire.post(message)).status_code for message in asked]
        statuses += [(await wire.call("count", key="k")).status_code, (await wire.call("echo", text="")).status_code]
        assert statuses == [500, 500, 200, 200, 200, 503]


@pytest.mark.parametrize(("when", "ran"), [("unread", {}), ("before", {}), ("after", {"k": 1}), ("midway", {"k": 1})])
@pytest.mark.parametrize("stream", [False, True])
async def test_a_connection_is_reset_before_after_or_in_the_middle(when: When, ran: dict[str, int], stream: bool):
    async with ChaosServer(Plan(stream=stream)) as server, Wire(server) as wire:
        await server.arm(Fault(kind="reset", when=when))
        with pytest.raises(httpx2.TransportError):
            await wire.call("count", key="k")
        assert server.counts.keys == ran
        assert (await wire.call("echo", text="x")).status_code == 200


@pytest.mark.parametrize(("when", "ran"), [("before", {}), ("after", {"k": 1})])
async def test_a_silent_server_answers_others_meanwhile(when: When, ran: dict[str, int]):
    async with ChaosServer() as server, Wire(server) as wire:
        await server.arm(Fault(kind="silent", when=when))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await wire.call("count", key="k")
        assert text_of((await wire.call("echo", text="x")).json()) == "x"
        assert server.counts.keys == ran


async def test_garbage_is_no_json_and_oversize_is_large():
    async with ChaosServer() as server, Wire(server) as wire:
        await server.arm(Fault(kind="garbage"), Fault(kind="oversize", size=100_000))
        garbage, large = await wire.call("echo", text="x"), await wire.call("echo", text="x")
        with pytest.raises(ValueError):
            garbage.json()
        assert len(text_of(large.json())) == 100_000


async def test_an_error_in_a_servers_own_words_leaves_the_session_alone():
    async with ChaosServer() as server, Wire(server) as wire:
        await server.arm(Fault(kind="rpc", when="after", text="tmux: session not found", method="tools/call"))
        answer = await wire.call("count", key="k")
        assert answer.json()["error"] == {"code": -32000, "message": "tmux: session not found"}
        assert (await wire.post(request("ping"))).json()["result"] == {}
        assert (server.counts.keys, server.counts.sessions) == ({"k": 1}, 1)


async def test_a_slow_start_only_takes_time():
    async with ChaosServer() as server, Wire(server) as wire:
        await server.arm(Fault(kind="slow", seconds=0.05))
        begun = time.monotonic()
        assert text_of((await wire.call("echo", text="x")).json()) == "x"
        assert time.monotonic() - begun >= 0.05


async def test_an_outage_refuses_connections_and_ends_on_the_same_port():
    async with ChaosServer() as server, Wire(server) as wire:
        await server.arm(Fault(kind="refuse", seconds=0.2))
        async with httpx2.AsyncClient() as fresh:
            with pytest.raises(httpx2.ConnectError):
                await fresh.get(server.url)
        await asyncio.sleep(0.3)
        assert text_of((await wire.call("echo", text="x")).json()) == "x"


async def test_a_storm_and_a_change_reach_the_listening_stream():
    async with ChaosServer() as server, Wire(server) as wire:
        async with wire.http.stream("GET", wire.url, headers=wire.headers) as stream:
            await server.arm(
                Fault(kind="storm", times=100), Fault(kind="describe", text="New words."), Fault(kind="schema")
            )
            await server.arm(Fault(kind="expire"))
            body = (await stream.aread()).decode()
        assert body.count("notifications/tools/list_changed") == 102
        async with Wire(server) as fresh:
            echo = (await fresh.post(request("tools/list"))).json()["result"]["tools"][0]
        assert (echo["description"], list(echo["inputSchema"]["properties"])) == ("New words.", ["text", "extra"])


async def test_a_fault_can_strike_the_listening_stream():
    async with ChaosServer() as server, Wire(server) as wire:
        await server.arm(Fault(kind="status", method="GET", status=405))
        assert (await wire.http.get(wire.url, headers=wire.headers)).status_code == 405
