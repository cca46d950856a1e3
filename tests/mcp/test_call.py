"""The fault table of the MCP client, row by row, over HTTP: what a caller gets and what the server saw."""

import asyncio
import time
from typing import Any

import pytest

from hermes.config import ToolChoice
from hermes.mcp.chaos.faults import LOST_TEXTS, Fault, Lost
from hermes.mcp.chaos.plan import Era, Plan
from hermes.mcp.chaos.server import ChaosServer
from hermes.mcp.contract import (
    CallTool,
    NeedsLogin,
    Operation,
    OutcomeUnknown,
    ReadResource,
    ServerFailed,
    TimedOut,
    Unreachable,
)
from hermes.mcp.server import Server
from tests.mcp.rig import COUNT, ECHO, OPERATIONS, READING, HandClock, Office, Person, client, until

GREETING = ReadResource("chaos://greeting")
SLOW = CallTool("slow", {"seconds": 30})


def by_name(operations: dict[str, Operation]) -> Any:
    return pytest.mark.parametrize(("method", "operation"), operations.items(), ids=operations)


async def failure(server: Server, operation: Operation, **given: Any) -> ServerFailed:
    with pytest.raises(ServerFailed) as caught:
        await server.request(operation, Person(), **given)
    assert "\n" not in str(caught.value)
    return caught.value


# Session expiry


@pytest.mark.parametrize("lost", ["404", "400", "bare-400", "rpc"])
@by_name(OPERATIONS)
async def test_an_expired_session_is_renewed_and_the_call_sent_again_once(
    method: str, operation: Operation, lost: Lost
) -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="expire", lost=lost))
        await server.request(operation, Person())
        counts = chaos.counts
        assert (counts.requests[method], counts.initializations) == (2, 2)
        assert sum(counts.runs.values()) == (method == "tools/call")
        assert server.status().restarts == 1


@pytest.mark.parametrize("text", LOST_TEXTS)
async def test_each_of_the_texts_of_a_lost_session_is_recognised(text: str) -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="rpc", method="resources/read", text=f"Error: {text.upper()}"))
        await server.request(GREETING, Person())
        assert (chaos.counts.requests["resources/read"], chaos.counts.initializations) == (2, 2)


@pytest.mark.parametrize("text", ["Tool failed to execute", "Connection refused", "401 Unauthorized", ""])
@by_name(OPERATIONS)
async def test_unrelated_errors_and_empty_messages_never_reconnect(
    method: str, operation: Operation, text: str
) -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="rpc", method=method, text=text))
        error = await failure(server, operation)
        assert str(error) == f"MCP call failed: {text or 'error -32000'}"
        assert (chaos.counts.requests[method], chaos.counts.initializations) == (1, 1)


async def test_a_tools_own_result_never_reconnects() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        result = await server.request(CallTool("fail", {"text": "Session expired"}), Person())
        assert (result.is_error, result.content[0].text) == (True, "Session expired")
        assert chaos.counts.initializations == 1


async def test_a_tools_own_words_are_returned_while_its_session_lives() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="rpc", tool="count", when="after", text="tmux: session not found"))
        assert str(await failure(server, COUNT)) == "MCP call failed: tmux: session not found"
        assert (chaos.counts.keys, chaos.counts.initializations) == ({"a": 1}, 1)


async def test_a_bare_400_for_a_tool_is_returned_while_its_session_lives() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="status", tool="count", status=400))
        assert str(await failure(server, COUNT)) == "MCP call failed: HTTP 400: Bad Request"
        assert (chaos.counts.requests["tools/call"], chaos.counts.initializations) == (1, 1)


@by_name(OPERATIONS)
async def test_a_retry_that_fails_too_falls_through(method: str, operation: Operation) -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="status", method=method, status=404, times=2))
        assert str(await failure(server, operation)).startswith("MCP call failed: HTTP 404")
        assert (chaos.counts.requests[method], chaos.counts.runs) == (2, {})


async def test_expiry_asks_for_no_new_token() -> None:
    office = Office("Bearer one")
    async with ChaosServer() as chaos, client(chaos, authority=office) as server:
        await chaos.arm(Fault(kind="expire"))
        await server.request(COUNT, Person())
        assert office.refreshes == 0


async def test_a_session_that_cannot_be_renewed_in_time_gives_the_ordinary_error() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="expire"), Fault(kind="slow", method="initialize", seconds=30))
        began = time.monotonic()
        assert str(await failure(server, COUNT, timeout=0.3)).startswith("MCP call failed: ")
        assert time.monotonic() - began < 0.55


async def test_a_renewal_is_waited_for_fifteen_seconds_at_most() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos, client(chaos, clock=clock) as server:
        await chaos.arm(Fault(kind="expire"), Fault(kind="slow", method="initialize", seconds=30))
        call = asyncio.create_task(server.request(COUNT, Person()))
        await until(lambda: chaos.counts.initializations == 2)
        await clock.move(14.9)
        assert not call.done()
        await clock.move(0.1)
        with pytest.raises(ServerFailed, match="MCP call failed"):
            await call


async def test_a_server_that_was_never_started_falls_through() -> None:
    async with ChaosServer() as chaos, client(chaos) as running:
        server = Server("idle", running.settings, environ={})
        assert str(await failure(server, COUNT)) == "MCP call failed: the server idle is not running"


async def test_a_server_removed_while_its_session_is_renewed_falls_through() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="expire"), Fault(kind="slow", method="initialize", seconds=30))
        call = asyncio.create_task(server.request(COUNT, Person()))
        await until(lambda: chaos.counts.initializations == 2)
        await server.close()
        with pytest.raises(ServerFailed, match="MCP call failed: the server chaos was closed"):
            await call


@pytest.mark.parametrize(
    ("lost", "stream"), [("404", False), ("400", False), ("bare-400", False), ("rpc", False), ("404", True)]
)
async def test_64_calls_over_a_dropped_session_succeed_with_one_initialization(lost: Lost, stream: bool) -> None:
    async with ChaosServer(Plan(stream=stream)) as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="expire", lost=lost))
        calls = [server.request(CallTool("count", {"key": str(n)}), Person()) for n in range(64)]
        results = await asyncio.gather(*calls)
        assert [result.content[0].text for result in results] == ["1"] * 64
        assert chaos.counts.keys == {str(n): 1 for n in range(64)}
        assert chaos.counts.initializations == 2


# Interrupts


@pytest.mark.parametrize("era", ["old", "modern"])
async def test_an_interrupt_returns_at_once_and_cancels_on_the_server(era: Era) -> None:
    office = Office("Bearer one")
    async with ChaosServer(Plan(era=era)) as chaos, client(chaos, authority=office) as server:
        waits: list[float] = []
        for number in (1, 2, 3):
            call = asyncio.create_task(server.request(SLOW, Person()))
            await until(lambda number=number: chaos.counts.runs.get("slow") == number)
            began = time.monotonic()
            call.cancel("session expired")
            with pytest.raises(asyncio.CancelledError):
                await call
            waits.append(time.monotonic() - began)
        assert min(waits) < 0.05
        await until(lambda: chaos.counts.cancelled == 3)
        seen = chaos.counts
        assert (seen.requests["tools/call"], seen.initializations + seen.discoveries) == (3, 2 if era == "old" else 1)
        assert (server.status().failures, office.refreshes) == (0, 0)


async def test_an_interrupt_while_a_session_is_renewed_ends_the_call_only() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="expire"), Fault(kind="slow", method="initialize", seconds=0.1))
        call = asyncio.create_task(server.request(COUNT, Person()))
        await until(lambda: chaos.counts.initializations == 2)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await server.request(COUNT, Person())
        assert (chaos.counts.keys, chaos.counts.initializations, server.status().failures) == ({"a": 1}, 2, 0)


# No connection, or one that is lost


@pytest.mark.parametrize("era", ["old", "modern"])
async def test_calls_made_during_an_outage_all_succeed_when_it_is_over(era: Era) -> None:
    async with ChaosServer(Plan(era=era)) as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="refuse", seconds=1.5))
        calls = [server.request(CallTool("count", {"key": str(n)}), Person()) for n in range(64)]
        began = time.monotonic()
        await asyncio.gather(*calls)
        assert chaos.counts.keys == {str(n): 1 for n in range(64)}
        assert time.monotonic() - began < 2.5 + 1


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("when", ["after", "midway"])
async def test_a_tool_whose_answer_is_lost_is_not_run_again(when: Any, stream: bool) -> None:
    async with ChaosServer(Plan(stream=stream)) as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="reset", when=when, tool="count"))
        error = await failure(server, COUNT)
        assert isinstance(error, OutcomeUnknown)
        assert "outcome unknown" in str(error)
        assert "count may or may not have run" in str(error)
        await until(lambda: chaos.counts.initializations == 2 and server.status().state == "ready")
        assert chaos.counts.keys == {"a": 1}


async def test_a_tool_that_the_settings_call_idempotent_is_run_again() -> None:
    choice = ToolChoice(idempotent=("count",))
    async with ChaosServer() as chaos, client(chaos, tools=choice) as server:
        await chaos.arm(Fault(kind="reset", when="after", tool="count"))
        assert (await server.request(COUNT, Person())).content[0].text == "2"


@pytest.mark.parametrize("when", ["before", "after", "midway"])
@by_name(READING)
async def test_reading_is_tried_once_more_when_its_answer_is_lost(method: str, operation: Operation, when: Any) -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="reset", when=when, method=method))
        await server.request(operation, Person())
        assert (chaos.counts.requests[method], chaos.counts.initializations) == (2, 2)


async def test_one_lost_request_fails_alone_among_64() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        calls = [asyncio.create_task(server.request(CallTool("slow", {"seconds": 0.3}), Person())) for _ in range(63)]
        await until(lambda: chaos.counts.runs.get("slow") == 63)
        await chaos.arm(Fault(kind="reset", when="after", tool="count"))
        assert isinstance(await failure(server, COUNT), OutcomeUnknown)
        await asyncio.gather(*calls)
        assert chaos.counts.runs == {"slow": 63, "count": 1}


# Statuses


async def test_a_busy_server_is_called_again_when_it_says() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="status", status=429, seconds=0.05, tool="count"))
        await server.request(COUNT, Person())
        await chaos.arm(Fault(kind="status", status=503, seconds=0.05, method="resources/read"))
        await server.request(GREETING, Person())
        assert chaos.counts.keys == {"a": 1}
        assert (chaos.counts.requests["tools/call"], chaos.counts.requests["resources/read"]) == (2, 2)


async def test_a_busy_server_is_not_waited_for_beyond_the_deadline() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="status", status=429, seconds=60, tool="count"))
        began = time.monotonic()
        assert str(await failure(server, COUNT, timeout=5)).startswith("MCP call failed: HTTP 429")
        assert time.monotonic() - began < 1


@pytest.mark.parametrize("fault", [Fault(kind="status", status=503, seconds=1), Fault(kind="status", status=500)])
async def test_a_tool_is_not_run_again_after_a_server_error(fault: Fault) -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind=fault.kind, status=fault.status, seconds=fault.seconds, tool="count", when="after"))
        assert str(await failure(server, COUNT)).startswith(f"MCP call failed: HTTP {fault.status}")
        assert (chaos.counts.keys, chaos.counts.initializations) == ({"a": 1}, 1)


@pytest.mark.parametrize("status", [500, 502])
async def test_reading_is_tried_once_more_after_a_server_error(status: int) -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="status", status=status, method="resources/read"))
        await server.request(GREETING, Person())
        await chaos.arm(Fault(kind="status", status=status, method="resources/read", times=2))
        assert str(await failure(server, GREETING)).startswith(f"MCP call failed: HTTP {status}")
        assert (chaos.counts.requests["resources/read"], chaos.counts.initializations) == (4, 1)


async def test_an_answer_that_is_no_json_is_an_error_and_harms_nobody_else() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="garbage", tool="count", when="after"))
        assert isinstance(await failure(server, COUNT), OutcomeUnknown)
        await server.request(ECHO, Person())
        assert (chaos.counts.keys, chaos.counts.initializations) == ({"a": 1}, 1)


@pytest.mark.parametrize("stream", [False, True])
async def test_an_answer_that_is_too_large_is_an_error_that_does_not_count(stream: bool) -> None:
    async with ChaosServer(Plan(stream=stream)) as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="oversize", tool="echo", size=17 << 20))
        assert "large" in str(await failure(server, ECHO))
        assert (server.status().failures, chaos.counts.initializations) == (0, 1)
        await server.request(ECHO, Person())


# Silence


async def test_no_answer_is_an_error_at_the_deadline_and_the_session_is_kept() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        began = time.monotonic()
        error = await failure(server, SLOW, timeout=0.1)
        assert isinstance(error, TimedOut)
        assert str(error) == "MCP call failed: chaos gave no answer within 0.1 s"
        assert time.monotonic() - began < 0.35
        await until(lambda: chaos.counts.cancelled == 1)
        await server.request(ECHO, Person())
        assert chaos.counts.initializations == 1


async def test_after_two_silent_calls_a_server_that_lives_is_kept_and_not_blamed() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        lists = chaos.counts.requests["tools/list"]
        for _ in range(2):
            await failure(server, SLOW, timeout=0.05)
        await until(lambda: chaos.counts.requests["tools/list"] == lists + 1 and server.status().failures == 0)
        assert chaos.counts.initializations == 1


async def test_after_two_silent_calls_a_server_that_is_dead_is_reconnected() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos, client(chaos, clock=clock) as server:
        await chaos.arm(Fault(kind="silent", method="tools/list"))
        for number in (1, 2):
            call = asyncio.create_task(server.request(SLOW, Person(), timeout=1))
            await until(lambda number=number: chaos.counts.runs.get("slow") == number)
            await clock.move(1)
            with pytest.raises(TimedOut):
                await call
        await until(lambda: chaos.counts.requests["tools/list"] == 2)
        await clock.move(10)
        await until(lambda: chaos.counts.initializations == 2)


# Who we are


async def test_a_401_is_answered_by_one_refresh_a_new_connection_and_one_retry() -> None:
    office = Office("Bearer old", "Bearer new")
    async with ChaosServer() as chaos, client(chaos, authority=office) as server:
        await chaos.arm(Fault(kind="status", status=401, tool="count"))
        await server.request(COUNT, Person())
        assert (chaos.counts.keys, chaos.counts.requests["tools/call"]) == ({"a": 1}, 2)
        assert (chaos.counts.initializations, office.refreshes) == (2, 1)


async def test_64_calls_that_meet_a_401_share_one_new_connection() -> None:
    async with ChaosServer() as chaos:
        office = Office("Bearer old", "Bearer new", opens=lambda: chaos.counts.requests["tools/call"] >= 64)
        async with client(chaos, authority=office) as server:
            await chaos.arm(Fault(kind="status", status=401, tool="count", times=64))
            await asyncio.gather(*(server.request(CallTool("count", {"key": str(n)}), Person()) for n in range(64)))
        assert chaos.counts.keys == {str(n): 1 for n in range(64)}
        assert chaos.counts.initializations == 2


async def test_a_401_that_no_refresh_mends_says_how_to_log_in() -> None:
    async with ChaosServer() as chaos, client(chaos, authority=Office("Bearer old")) as server:
        await chaos.arm(Fault(kind="status", status=401, tool="count"))
        error = await failure(server, COUNT)
        assert isinstance(error, NeedsLogin)
        assert (error.needs_reauth, error.server) == (True, "chaos")
        assert str(error).endswith("log in with: hermes mcp login chaos")
        assert chaos.counts.requests["tools/call"] == 1


async def test_a_login_server_that_is_down_asks_nobody_to_log_in() -> None:
    class Closed(Office):
        async def refused(self, header: str, challenge: str) -> bool:
            raise Unreachable("chaos", "MCP call failed: the login server does not answer")

    async with ChaosServer() as chaos, client(chaos, authority=Closed("Bearer old")) as server:
        await chaos.arm(Fault(kind="status", status=401, tool="count"))
        error = await failure(server, COUNT)
        assert (type(error), str(error)) == (Unreachable, "MCP call failed: the login server does not answer")


async def test_a_command_that_is_not_there_is_said_at_once_and_not_waited_for() -> None:
    async with client("", wait=False, command="no-such-server") as server:
        began = asyncio.get_running_loop().time()
        error = await failure(server, COUNT)
        assert "no-such-server" in str(error)
        assert asyncio.get_running_loop().time() - began < 5


async def test_a_401_after_the_refresh_needs_a_login_and_is_not_tried_again() -> None:
    office = Office("Bearer old", "Bearer new", "Bearer newer")
    async with ChaosServer() as chaos, client(chaos, authority=office) as server:
        await chaos.arm(Fault(kind="status", status=401, tool="count", times=2))
        assert isinstance(await failure(server, COUNT), NeedsLogin)
        assert (chaos.counts.requests["tools/call"], office.refreshes) == (2, 1)


async def test_a_401_without_an_authority_names_the_headers() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="status", status=401, tool="count"))
        assert "mcp_servers.chaos.headers" in str(await failure(server, COUNT))


async def test_missing_scopes_are_asked_for_at_most_twice() -> None:
    office = Office("Bearer one", wider=5)
    async with ChaosServer() as chaos, client(chaos, authority=office) as server:
        await chaos.arm(Fault(kind="status", status=403, tool="count", times=2))
        await server.request(COUNT, Person())
        assert (office.step_ups, chaos.counts.keys, chaos.counts.initializations) == (2, {"a": 1}, 1)
        await chaos.arm(Fault(kind="status", status=403, tool="count", times=3))
        assert str(await failure(server, COUNT)).startswith("MCP call failed: HTTP 403")
        assert office.step_ups == 4


async def test_scopes_that_nobody_grants_need_a_login() -> None:
    async with ChaosServer() as chaos, client(chaos, authority=Office("Bearer one")) as server:
        await chaos.arm(Fault(kind="status", status=403, tool="count"))
        assert isinstance(await failure(server, COUNT), NeedsLogin)
