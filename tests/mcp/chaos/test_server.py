"""The fault server over HTTP while nothing is armed: sessions, both eras, streams, counts."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import msgspec
import pytest

from hermes.mcp.chaos.faults import Fault
from hermes.mcp.chaos.ledger import Counts
from hermes.mcp.chaos.plan import Plan
from hermes.mcp.chaos.server import ChaosServer
from tests.mcp.chaos.wire import META, Wire, request, text_of, tool_call


async def test_a_session_is_opened_used_and_deleted():
    async with ChaosServer() as server, Wire(server) as wire:
        answer = await wire.call("echo", text="hello")
        assert answer.json() == {
            "jsonrpc": "2.0",
            "id": 1,
            "result": {"content": [{"type": "text", "text": "hello"}], "isError": False},
        }
        assert (await wire.http.delete(wire.url, headers=wire.headers)).status_code == 200
        assert (await wire.call("echo", text="again")).status_code == 404
        assert server.counts == Counts(
            requests={"initialize": 1, "tools/call": 2, "DELETE": 1}, runs={"echo": 1}, opened=1, connections=1
        )


async def test_a_request_without_session_is_refused():
    async with ChaosServer() as server, httpx2.AsyncClient() as http:
        answer = await http.post(server.url, json=request("tools/list"))
        assert (answer.status_code, answer.json()["error"]["message"]) == (400, "Bad Request: Missing session ID")


async def test_the_tool_count_shows_every_execution_by_key():
    async with ChaosServer() as server, Wire(server) as wire:
        numbers = [text_of((await wire.call("count", key=key)).json()) for key in ("a", "a", "b")]
        assert numbers == ["1", "2", "1"]
        assert (server.counts.keys, server.counts.runs) == ({"a": 2, "b": 1}, {"count": 3})


async def test_a_tool_with_wrong_arguments_is_not_executed():
    async with ChaosServer() as server, Wire(server) as wire:
        answer = await wire.call("count")
        assert answer.json()["error"] == {"code": -32602, "message": "Missing argument: key"}
        assert server.counts.runs == {}


async def test_a_stream_plan_answers_with_events():
    async with ChaosServer(Plan(stream=True)) as server, Wire(server) as wire:
        answer = await wire.call("echo", text="hello")
        assert answer.headers["content-type"] == "text/event-stream"
        data = answer.text.removeprefix("event: message\ndata: ")
        assert text_of(msgspec.json.decode(data)) == "hello"


async def test_a_cancelled_call_ends_and_is_counted():
    async with ChaosServer() as server, Wire(server) as wire:
        call = asyncio.create_task(wire.call("count", key="k", seconds=30))
        while not server.counts.keys:
            await asyncio.sleep(0.001)
        cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
        assert (await wire.post(cancel)).status_code == 202
        assert (await call).json()["error"]["message"] == "Request cancelled"
        assert (server.counts.cancelled, server.counts.keys) == (1, {"k": 1})


async def test_in_the_old_era_hanging_up_cancels_nothing():
    async with ChaosServer() as server, Wire(server) as wire:
        call = asyncio.create_task(wire.call("count", key="k", seconds=0.05))
        while not server.counts.keys:
            await asyncio.sleep(0.001)
        call.cancel()
        await asyncio.wait({call})
        while server.counts.connections:
            await asyncio.sleep(0.001)
        assert server.counts.cancelled == 0


async def test_in_the_modern_era_hanging_up_cancels():
    async with ChaosServer(Plan(era="modern")) as server, httpx2.AsyncClient() as http:
        message = tool_call("slow", seconds=30)
        message["params"]["_meta"] = META
        headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "slow"}
        call = asyncio.create_task(http.post(server.url, json=message, headers=headers))
        while not server.counts.runs:
            await asyncio.sleep(0.001)
        call.cancel()
        async with asyncio.timeout(5):
            while server.counts.connections:
                await asyncio.sleep(0.001)
        assert server.counts.cancelled == 1


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"mcp-protocol-version": "2025-11-25", "mcp-method": "tools/list"},
        {"mcp-protocol-version": "2026-07-28", "mcp-method": "ping"},
    ],
)
async def test_modern_headers_that_differ_from_the_body_are_refused(headers: dict[str, str]):
    async with ChaosServer(Plan(era="modern")) as server, httpx2.AsyncClient() as http:
        answer = await http.post(server.url, json=request("tools/list", {"_meta": META}), headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32020)


async def test_a_modern_server_names_its_version_to_an_old_client():
    async with ChaosServer(Plan(era="modern")) as server, httpx2.AsyncClient() as http:
        answer = await http.post(server.url, json=request("initialize", {"protocolVersion": "2025-11-25"}))
        assert answer.json()["error"]["data"] == {"supported": ["2026-07-28"], "requested": "2025-11-25"}


async def test_a_subscription_hears_of_changes():
    async with ChaosServer(Plan(era="modern")) as server, httpx2.AsyncClient() as http:
        message = request("subscriptions/listen", {"_meta": META, "notifications": {"toolsListChanged": True}}, 7)
        headers = {"mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen"}
        async with http.stream("POST", server.url, json=message, headers=headers) as stream:
            events = _events(stream)
            heard = [await anext(events)]
            await server.arm(Fault(kind="storm"))
            heard.append(await anext(events))
        mark = {"io.modelcontextprotocol/subscriptionId": 7}
        assert heard == [
            {
                "jsonrpc": "2.0",
                "method": "notifications/subscriptions/acknowledged",
                "params": {"_meta": mark, "notifications": {"toolsListChanged": True}},
            },
            {"jsonrpc": "2.0", "method": "notifications/tools/list_changed", "params": {"_meta": mark}},
        ]


async def _events(stream: httpx2.Response) -> AsyncIterator[Any]:
    async for line in stream.aiter_lines():
        if line.startswith("data: "):
            yield msgspec.json.decode(line.removeprefix("data: "))


async def test_counts_and_faults_travel_over_http_beside_the_protocol():
    async with ChaosServer() as server, Wire(server) as wire:
        control = server.url.replace("/mcp", "/chaos")
        await wire.http.post(control, json={"kind": "status", "status": 503, "seconds": 2})
        answer = await wire.call("echo", text="x")
        counts = msgspec.json.decode((await wire.http.get(control)).content, type=Counts)
        assert (answer.status_code, answer.headers["retry-after"], counts) == (503, "2", server.counts)


@pytest.mark.parametrize("body", ["{}", '{"kind": "flood"}', '{"kind": "exit"}', '{"kind": "status", "tiems": 2}'])
async def test_an_unknown_fault_is_refused(body: str):
    async with ChaosServer() as server, httpx2.AsyncClient() as http:
        answer = await http.post(server.url.replace("/mcp", "/chaos"), content=body)
        assert answer.status_code == 400


async def test_a_folder_keeps_the_counts_beyond_the_server(tmp_path):
    plan = Plan(folder=tmp_path)
    for number in ("1", "2"):
        async with ChaosServer(plan) as server, Wire(server) as wire:
            assert text_of((await wire.call("count", key="k")).json()) == number
            assert server.counts.keys == {"k": int(number)}
