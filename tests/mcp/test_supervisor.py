"""A server that was not shut down on purpose is always reconnectable: budgets, parking, revival, upkeep, stdio."""

import asyncio
import os
import signal
import time
from pathlib import Path

import pytest

from hermes.config import McpServer
from hermes.mcp.chaos.faults import Fault
from hermes.mcp.chaos.plan import Plan
from hermes.mcp.chaos.server import ChaosServer
from hermes.mcp.chaos.stdio import StdioChaos
from hermes.mcp.contract import CallTool, Catalog, NeedsLogin, OutcomeUnknown, ServerFailed, TimedOut
from hermes.mcp.server import Server
from tests.mcp.rig import COUNT, ECHO, OPERATIONS, HandClock, Office, Person, client, until

DOWN = Fault(kind="status", status=500, method="initialize", times=1000)


async def pass_until(clock: HandClock, server: Server, state: str) -> None:
    """Let time fly until the server is in this state."""
    async with asyncio.timeout(10):
        while server.status().state != state:
            await asyncio.sleep(0.003)
            if server.status().state != "connecting":  # that takes real time
                await clock.move(1)


async def lost(chaos: ChaosServer, server: Server, clock: HandClock) -> None:
    """Drop the session, and let the keepalive find out, so that no call waits."""
    await chaos.arm(Fault(kind="expire"))
    await clock.move(200)
    await until(lambda: server.status().state != "ready")


# Budgets and parking


async def test_a_first_connection_is_tried_three_times_and_then_parked() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos:
        await chaos.arm(DOWN)
        async with client(chaos, wait=False, clock=clock) as server:
            assert await server.settled(5) is False
            await pass_until(clock, server, "parked")
            assert chaos.counts.initializations == 3
            assert server.status().last_error == "HTTP 500: Internal Server Error"


async def test_a_dropped_server_is_tried_five_times_and_then_its_tools_are_withdrawn() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos, client(chaos, clock=clock) as server:
        told: list[tuple[str, int]] = []
        server.watch(lambda one: told.append((one.status().state, one.status().tools)))
        await chaos.arm(DOWN)
        await lost(chaos, server, clock)
        await pass_until(clock, server, "parked")
        assert chaos.counts.initializations == 1 + 5
        assert (told[-1], server.catalog) == (("parked", 0), Catalog())
        assert all(tools == 12 for state, tools in told if state != "parked")


async def test_a_parked_server_probes_itself_every_five_minutes_and_revives_with_its_tools() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos, client(chaos, clock=clock) as server:
        await chaos.arm(Fault(kind="status", status=500, method="initialize", times=6))
        await lost(chaos, server, clock)
        await pass_until(clock, server, "parked")
        await until(lambda: any(nap > 295 for nap in clock.naps))
        await clock.move(295)
        await asyncio.sleep(0.05)
        assert chaos.counts.initializations == 6
        await clock.move(10)
        await until(lambda: chaos.counts.initializations == 7 and any(nap > 295 for nap in clock.naps))
        assert server.status().state == "parked"
        await clock.move(301)
        await until(lambda: server.status().state == "ready")
        assert len(server.catalog.tools) == 12


@pytest.mark.parametrize("how", ["call", "reconnect"])
async def test_a_parked_server_is_revived_by_a_call_and_by_a_person(how: str) -> None:
    clock = HandClock()
    async with ChaosServer() as chaos:
        await chaos.arm(Fault(kind="status", status=500, method="initialize", times=3))
        async with client(chaos, wait=False, clock=clock) as server:
            await pass_until(clock, server, "parked")
            if how == "call":
                await server.request(COUNT, Person())
            else:
                server.reconnect()
                await until(lambda: server.status().state == "ready")
            assert len(server.catalog.tools) == 12


async def test_the_budget_is_whole_again_after_every_success() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos, client(chaos, clock=clock) as server:
        for drop in range(1, 4):
            await chaos.arm(Fault(kind="status", status=500, method="initialize", times=4))
            await lost(chaos, server, clock)
            await pass_until(clock, server, "ready")
            assert (chaos.counts.initializations, server.status().restarts) == (1 + 5 * drop, drop)


async def test_while_a_call_waits_tries_are_half_a_second_apart_at_most_and_cost_no_budget() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos, client(chaos, clock=clock) as server:
        await chaos.arm(Fault(kind="status", status=500, method="initialize", times=20), Fault(kind="expire"))
        call = asyncio.create_task(server.request(COUNT, Person()))
        for attempt in range(2, 22):
            await until(lambda attempt=attempt: chaos.counts.initializations == attempt and len(clock.naps) > 1)
            await until(lambda: server.status().state == "backoff")
            assert clock.naps[0] <= 0.5
            await clock.move(clock.naps[0])
        await call
        assert chaos.counts.keys == {"a": 1}
        assert chaos.counts.initializations == 22


async def test_a_call_cuts_a_long_pause_short() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos:
        await chaos.arm(Fault(kind="status", status=500, method="initialize"))
        async with client(chaos, wait=False, clock=clock) as server:
            await until(lambda: server.status().state == "backoff")
            await server.request(COUNT, Person())


async def test_its_task_never_ends_before_it_is_closed() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos:
        await chaos.arm(DOWN)
        async with client(chaos, wait=False, clock=clock) as server:
            for _ in range(10):
                await pass_until(clock, server, "parked")
                await clock.move(300)
            server.reconnect()
        assert server.status().state == "closed"


# Logins


async def test_a_login_that_is_missing_at_the_start_is_not_tried_again_and_again() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos:
        await chaos.arm(Fault(kind="status", status=401, times=1000))
        async with client(chaos, wait=False, clock=clock, authority=Office("Bearer old")) as server:
            await until(lambda: server.status().state == "needs_auth")
            seen = chaos.counts.requests
            await clock.move(100)
            with pytest.raises(NeedsLogin, match="hermes mcp login chaos"):
                await server.request(COUNT, Person())
            assert chaos.counts.requests == seen


async def test_a_stale_token_at_the_start_is_refreshed_and_the_connection_made() -> None:
    office = Office("Bearer old", "Bearer new")
    async with ChaosServer() as chaos:
        await chaos.arm(Fault(kind="status", status=401, method="server/discover"))
        await chaos.arm(Fault(kind="status", status=401, method="initialize"))
        async with client(chaos, authority=office) as server:
            await server.request(COUNT, Person())
            assert office.refreshes == 1


async def test_a_login_that_only_the_list_of_tools_wants_is_asked_for_too() -> None:
    async with ChaosServer() as chaos:
        await chaos.arm(Fault(kind="status", status=401, method="tools/list", times=1000))
        async with client(chaos, wait=False, authority=Office("Bearer old")) as server:
            await until(lambda: server.status().state == "needs_auth")


async def test_a_login_made_elsewhere_is_used_by_the_next_call() -> None:
    office = Office("Bearer old")
    async with ChaosServer() as chaos:
        await chaos.arm(Fault(kind="status", status=401, times=2))
        async with client(chaos, wait=False, authority=office) as server:
            await until(lambda: server.status().state == "needs_auth")
            office.log_in("Bearer new")
            await server.request(COUNT, Person())


# Upkeep


async def test_a_silent_session_is_pinged_and_one_that_is_gone_is_renewed_before_any_call() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos, client(chaos, clock=clock, keepalive_interval=30) as server:
        await clock.move(30)
        await until(lambda: chaos.counts.requests.get("ping") == 1)
        await asyncio.sleep(0.02)
        await chaos.arm(Fault(kind="expire"))
        await clock.move(30)
        await until(lambda: chaos.counts.initializations == 2 and server.status().state == "ready")
        await server.request(COUNT, Person())
        assert chaos.counts.requests["tools/call"] == 1


async def test_a_reconnect_keeps_the_old_connection_until_the_new_one_serves() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        call = asyncio.create_task(server.request(CallTool("slow", {"seconds": 0.3}), Person()))
        await until(lambda: chaos.counts.runs)
        await chaos.arm(Fault(kind="slow", method="initialize", seconds=0.1))
        server.reconnect()
        await until(lambda: chaos.counts.initializations == 2)
        await server.request(ECHO, Person())
        await call
        await until(lambda: chaos.counts.sessions == 1)
        assert (chaos.counts.opened, server.status().restarts) == (2, 1)


async def test_a_reconnect_that_fails_leaves_a_working_connection_alone() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="status", status=500, method="initialize"))
        server.reconnect()
        await until(lambda: chaos.counts.initializations == 2)
        await server.request(COUNT, Person())
        assert (server.status().state, chaos.counts.sessions) == ("ready", 1)


async def test_an_old_connection_is_given_ten_seconds_for_its_calls() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos, client(chaos, clock=clock) as server:
        call = asyncio.create_task(server.request(CallTool("count", {"key": "a", "seconds": 30}), Person()))
        await until(lambda: chaos.counts.runs)
        server.reconnect()
        await until(lambda: server.status().restarts == 1)
        await until(lambda: any(9 < nap <= 10 for nap in clock.naps))
        await clock.move(9)
        await asyncio.sleep(0.05)
        assert not call.done()
        await clock.move(2)
        with pytest.raises(OutcomeUnknown):
            async with asyncio.timeout(5):
                await call


async def test_what_fails_on_a_replaced_connection_is_not_held_against_the_new_one() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos, client(chaos, clock=clock) as server:
        calls = [
            asyncio.create_task(server.request(CallTool("count", {"key": str(n), "seconds": 30}), Person()))
            for n in range(4)
        ]
        await until(lambda: len(chaos.counts.keys) == 4)
        server.reconnect()
        await until(lambda: server.status().restarts == 1 and any(9 < nap <= 10 for nap in clock.naps))
        await clock.move(11)
        ends = await asyncio.gather(*calls, return_exceptions=True)
        assert [type(end) for end in ends] == [OutcomeUnknown] * 4
        assert (server.status().breaker, server.status().failures, server.status().restarts) == ("closed", 0, 1)


async def test_the_era_of_a_server_is_remembered() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        for _ in range(3):
            await chaos.arm(Fault(kind="expire"))
            await server.request(COUNT, Person())
        assert (chaos.counts.initializations, chaos.counts.discoveries) == (4, 1)


async def test_an_era_guessed_while_the_server_was_broken_is_not_remembered() -> None:
    async with ChaosServer(Plan(era="both")) as chaos:
        await chaos.arm(Fault(kind="status", status=500, method="server/discover"))
        async with client(chaos) as server:
            assert server.status().protocol == "2025-11-25"
            server.reconnect()
            await until(lambda: server.status().protocol == "2026-07-28")


async def test_nobody_waits_long_for_a_server_that_does_not_answer() -> None:
    async with ChaosServer() as chaos:
        await chaos.arm(Fault(kind="silent", times=100))
        async with client(chaos, wait=False, connect_timeout=0.1) as server:
            assert await server.settled(5) is False
            assert server.status().last_error == "no connection within 0.1 s"


# Processes


async def test_all_operations_work_over_stdio(tmp_path: Path) -> None:
    chaos = StdioChaos(tmp_path)
    async with client(chaos) as server:
        for operation in OPERATIONS.values():
            await server.request(operation, Person())
        assert (server.status().transport, server.status().pid) == ("stdio", chaos.counts.processes[0])


async def test_an_idle_process_that_dies_is_noticed_and_started_anew(tmp_path: Path) -> None:
    chaos = StdioChaos(tmp_path)
    async with client(chaos) as server:
        pid = server.status().pid
        assert pid
        noticed: list[float] = []
        server.watch(lambda one: noticed.append(time.monotonic()))
        began = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        await until(lambda: server.status().state == "ready" and server.status().pid not in (None, pid))
        assert noticed[0] - began < 0.3
        await server.request(COUNT, Person())
        assert chaos.counts.initializations == 2


async def test_a_tool_that_dies_with_its_process_is_not_run_again(tmp_path: Path) -> None:
    chaos = StdioChaos(tmp_path)
    async with client(chaos) as server:
        chaos.arm(Fault(kind="exit", when="after", tool="count"))
        with pytest.raises(OutcomeUnknown, match="its process ended with code 1"):
            await server.request(COUNT, Person())
        await server.request(ECHO, Person())
        assert (chaos.counts.keys, len(chaos.counts.processes)) == ({"a": 1}, 2)


@pytest.mark.parametrize("when", ["before", "after", "midway"])
async def test_reading_that_dies_with_its_process_is_tried_once_more(tmp_path: Path, when: str) -> None:
    chaos = StdioChaos(tmp_path)
    async with client(chaos) as server:
        chaos.arm(Fault(kind="exit", when=when, method="resources/read"))  # pyright: ignore[reportArgumentType]
        await server.request(OPERATIONS["resources/read"], Person())
        assert (chaos.counts.requests["resources/read"], len(chaos.counts.processes)) == (2, 2)


async def test_a_call_to_a_process_that_is_gone_was_not_sent_and_goes_to_the_next_one(tmp_path: Path) -> None:
    chaos = StdioChaos(tmp_path)
    async with client(chaos) as server:
        pid = server.status().pid
        assert pid
        os.kill(pid, signal.SIGKILL)
        await asyncio.sleep(0.1)
        await server.request(COUNT, Person())
        assert chaos.counts.keys == {"a": 1}


async def test_words_of_a_lost_session_mean_nothing_over_stdio(tmp_path: Path) -> None:
    chaos = StdioChaos(tmp_path)
    async with client(chaos) as server:
        chaos.arm(Fault(kind="rpc", method="resources/read", text="Session not found"))
        with pytest.raises(ServerFailed, match="MCP call failed: Session not found"):
            await server.request(OPERATIONS["resources/read"], Person())
        assert len(chaos.counts.processes) == 1


async def test_an_answer_of_a_process_that_is_too_large_fails_one_call_and_does_not_count(tmp_path: Path) -> None:
    chaos = StdioChaos(tmp_path)
    async with client(chaos) as server:
        chaos.arm(Fault(kind="oversize", tool="echo", size=17 << 20))
        with pytest.raises(ServerFailed, match="longer than 16 MB"):
            await server.request(ECHO, Person())
        await server.request(ECHO, Person())
        assert (server.status().failures, len(chaos.counts.processes)) == (0, 1)


async def test_a_process_that_stops_reading_is_killed_at_the_deadline_and_started_anew(tmp_path: Path) -> None:
    chaos = StdioChaos(tmp_path)
    async with client(chaos) as server:
        chaos.arm(Fault(kind="wedge"))
        await until(lambda: chaos.counts.faults)
        huge = CallTool("count", {"key": "x" * 1_000_000})
        began = time.monotonic()
        with pytest.raises(OutcomeUnknown, match="does not read"):
            await server.request(huge, Person(), timeout=0.5)
        assert time.monotonic() - began < 0.75
        await until(lambda: len(chaos.counts.processes) == 2 and server.status().state == "ready")
        assert (await server.request(COUNT, Person())).content[0].text == "1"


async def test_an_interrupt_behind_a_process_that_stops_reading_returns_at_once(tmp_path: Path) -> None:
    chaos = StdioChaos(tmp_path)
    async with client(chaos) as server:
        chaos.arm(Fault(kind="wedge"))
        await until(lambda: chaos.counts.faults)
        call = asyncio.create_task(server.request(CallTool("count", {"key": "x" * 1_000_000}), Person()))
        await asyncio.sleep(0.2)
        began = time.monotonic()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        assert time.monotonic() - began < 0.05
        assert server.status().failures == 0


async def test_a_small_call_behind_a_stuck_one_times_out_by_its_own_deadline(tmp_path: Path) -> None:
    chaos = StdioChaos(tmp_path)
    async with client(chaos) as server:
        chaos.arm(Fault(kind="wedge"))
        await until(lambda: chaos.counts.faults)
        stuck = asyncio.create_task(server.request(CallTool("echo", {"text": "x" * 1_000_000}), Person(), timeout=2))
        await asyncio.sleep(0.2)
        with pytest.raises(TimedOut, match="does not read what is sent to it; it is started anew"):
            await server.request(ECHO, Person(), timeout=0.3)
        # The stuck one only reads: it is sent again to the new process.
        assert (await stuck).content[0].text == "x" * 1_000_000


async def test_a_process_that_is_too_old_is_replaced_without_losing_a_call(tmp_path: Path) -> None:
    clock, chaos = HandClock(), StdioChaos(tmp_path)
    async with client(chaos, clock=clock, max_lifetime_seconds=60) as server:
        call = asyncio.create_task(server.request(CallTool("slow", {"seconds": 0.5}), Person()))
        await until(lambda: chaos.counts.runs)
        await clock.move(60)
        await until(lambda: len(chaos.counts.processes) == 2)
        await call
        await until(lambda: server.status().restarts == 1)


async def test_a_process_that_nobody_uses_is_stopped_and_started_by_the_next_call(tmp_path: Path) -> None:
    clock, chaos = HandClock(), StdioChaos(tmp_path)
    async with client(chaos, clock=clock, idle_timeout_seconds=60) as server:
        pid = server.status().pid
        await clock.move(60)
        await until(lambda: server.status().pid is None)
        assert (server.status().state, len(server.catalog.tools)) == ("ready", 12)
        await server.request(COUNT, Person())
        assert server.status().pid not in (None, pid)


async def test_a_command_that_is_not_there_is_named_in_one_line() -> None:
    server = Server("gone", McpServer(command="no-such-program"), environ={"PATH": os.defpath}, jitter=lambda: 0.0)
    server.start()
    try:
        assert await server.settled(10) is False
        assert "no-such-program" in server.status().last_error
    finally:
        await server.close()
