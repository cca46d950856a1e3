"""The transport under the SDK: headers, certificates, and the SSE transport, which one bad status must not stop."""

import asyncio
import ssl
from pathlib import Path

import pytest

from hermes.config import McpServer
from hermes.mcp.chaos.faults import Fault
from hermes.mcp.chaos.plan import Plan
from hermes.mcp.chaos.server import ChaosServer
from hermes.mcp.contract import CallTool, OutcomeUnknown, ServerFailed
from hermes.mcp.server import Server
from hermes.mcp.wire import open_transport
from hermes.protocol.errors import UserError
from tests.mcp.rig import COUNT, ECHO, OPERATIONS, Office, Person, client, until
from tests.mcp.sse_server import SseServer


async def test_all_operations_work_over_sse() -> None:
    async with SseServer() as peer, client(peer.url, transport="sse") as server:
        for operation in OPERATIONS.values():
            await server.request(operation, Person())
        assert (server.status().transport, server.status().protocol) == ("sse", "2025-11-25")


async def test_an_sse_session_that_is_forgotten_is_renewed_and_the_call_sent_again_once() -> None:
    async with SseServer() as peer, client(peer.url, transport="sse") as server:
        peer.forget()
        await server.request(COUNT, Person())
        counts = peer.ledger.counts
        assert (counts.keys, counts.requests["tools/call"], counts.initializations) == ({"a": 1}, 2, 2)


async def test_an_sse_server_that_wants_a_login_is_not_waited_for() -> None:
    async with SseServer() as peer:
        peer.refuse_next = 401
        async with client(peer.url, wait=False, transport="sse", authority=Office("Bearer old")) as server:
            await until(lambda: server.status().state == "needs_auth")


async def test_one_bad_status_over_sse_fails_one_call_and_no_other() -> None:
    async with SseServer() as peer, client(peer.url, transport="sse") as server:
        slow = asyncio.create_task(server.request(CallTool("slow", {"seconds": 0.2}), Person()))
        await until(lambda: peer.ledger.counts.runs)
        peer.refuse_next = 500
        with pytest.raises(ServerFailed, match="MCP call failed: HTTP 500"):
            await server.request(COUNT, Person())
        await server.request(COUNT, Person())
        await slow
        assert (peer.ledger.counts.keys, peer.ledger.counts.initializations) == ({"a": 1}, 1)


async def test_an_sse_stream_that_is_cut_is_opened_again_before_any_call() -> None:
    async with SseServer() as peer, client(peer.url, transport="sse") as server:
        peer.hang_up()
        await until(lambda: server.status().restarts == 1 and server.status().state == "ready")
        await server.request(COUNT, Person())


async def test_a_tool_whose_sse_stream_is_cut_is_not_run_again() -> None:
    async with SseServer() as peer, client(peer.url, transport="sse") as server:
        call = asyncio.create_task(server.request(CallTool("count", {"key": "a", "seconds": 5}), Person()))
        await until(lambda: peer.ledger.counts.keys)
        peer.hang_up()
        with pytest.raises(OutcomeUnknown):
            await call
        assert peer.ledger.counts.keys == {"a": 1}


async def test_the_headers_of_the_settings_and_the_authority_go_with_every_request() -> None:
    seen: list[dict[str, str]] = []

    async def note(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        seen.append(
            {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head.split("\r\n"))}
        )
        writer.write(b"HTTP/1.1 500 No\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        writer.close()

    listener = await asyncio.start_server(note, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{listener.sockets[0].getsockname()[1]}/mcp"
    office = Office("Bearer secret")
    async with client(url, wait=False, headers={"x-team": "red"}, authority=office) as server:
        await server.settled(5)
    listener.close()
    assert {(one["x-team"], one["authorization"]) for one in seen} == {("red", "Bearer secret")}


async def test_an_authority_that_breaks_breaks_one_call_only() -> None:
    class Broken(Office):
        broken = False

        async def header(self) -> str:
            if self.broken:
                raise RuntimeError("no token today")
            return await super().header()

    office = Broken("Bearer one")
    async with ChaosServer() as chaos, client(chaos, authority=office) as server:
        slow = asyncio.create_task(server.request(CallTool("slow", {"seconds": 0.2}), Person()))
        await until(lambda: chaos.counts.runs)
        office.broken = True
        with pytest.raises(ServerFailed, match="no token today"):
            await server.request(COUNT, Person(), timeout=0.3)
        office.broken = False
        await slow
        await server.request(ECHO, Person())
        assert chaos.counts.keys == {}


async def test_certificates_that_cannot_be_read_are_named_with_what_to_check(tmp_path: Path) -> None:
    settings = McpServer(url="https://127.0.0.1:1/mcp", ssl_verify=str(tmp_path / "no.pem"))
    with pytest.raises(UserError) as caught:
        await open_transport("x", settings)
    assert caught.value.hint == "check mcp_servers.x.ssl_verify, client_cert and client_key"


async def test_plain_http_loads_no_certificates(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded: list[str] = []
    monkeypatch.setattr(ssl.SSLContext, "load_verify_locations", lambda *_, **__: loaded.append("loaded"))
    monkeypatch.setattr(ssl.SSLContext, "load_default_certs", lambda *_, **__: loaded.append("loaded"))
    async with await open_transport("x", McpServer(url="http://127.0.0.1:1/mcp")):
        assert loaded == []


async def test_a_closed_port_is_refused_and_told_in_one_line() -> None:
    listener = await asyncio.start_server(lambda *_: None, "127.0.0.1", 0)
    port = listener.sockets[0].getsockname()[1]
    listener.close()
    await listener.wait_closed()
    server = Server("shut", McpServer(url=f"http://127.0.0.1:{port}/mcp"), environ={}, jitter=lambda: 0.0)
    server.start()
    with pytest.raises(ServerFailed, match="MCP call failed: shut could not be reached: "):
        await server.request(COUNT, Person(), timeout=0.2)
    await server.close()


async def test_a_server_of_the_new_protocol_that_wants_a_login_is_understood() -> None:
    """The SDK takes its refusal for one of the old protocol, and greets it in a way that it does not know."""
    async with ChaosServer(Plan(era="modern")) as chaos:
        await chaos.arm(Fault(kind="status", status=401, method="server/discover"))
        await chaos.arm(Fault(kind="status", status=400, method="initialize"))
        office = Office("Bearer old", "Bearer new")
        async with client(chaos, authority=office) as server:
            assert (office.refreshes, server.status().protocol) == (1, "2026-07-28")
            assert chaos.counts.requests["initialize"] == 1
