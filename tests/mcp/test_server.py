"""The breaker as callers meet it, what a server tells about itself, and what it is told while it is called."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from hermes.mcp.chaos.faults import Fault
from hermes.mcp.chaos.plan import Era, Plan
from hermes.mcp.chaos.server import ChaosServer
from hermes.mcp.contract import Caller, CallTool, NeedsLogin, ServerFailed, Status, Unreachable
from hermes.mcp.server import Server
from tests.mcp.rig import COUNT, ECHO, HandClock, Office, Person, client, until

BROKEN = Fault(kind="status", status=500, tool="count")


async def fail(server: Server, times: int = 1) -> None:
    for _ in range(times):
        with pytest.raises(ServerFailed):
            await server.request(COUNT, Person())


async def opened(chaos: ChaosServer, server: Server) -> None:
    await chaos.arm(Fault(kind="status", status=500, tool="count", times=3))
    await fail(server, 3)
    assert server.status().breaker == "open"


# The breaker


async def test_three_failures_in_a_row_make_a_server_unreachable_at_once_with_the_seconds_left() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos, client(chaos, clock=clock) as server:
        await opened(chaos, server)
        clock.now += 18
        with pytest.raises(Unreachable, match="chaos is unreachable; it is tried again in 42 s"):
            await server.request(ECHO, Person())
        assert chaos.counts.requests["tools/call"] == 3


async def test_after_the_cooldown_one_call_goes_through_and_closes_the_breaker() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos, client(chaos, clock=clock) as server:
        await opened(chaos, server)
        clock.now += 60
        await server.request(ECHO, Person())
        assert (server.status().breaker, server.status().failures) == ("closed", 0)
        assert chaos.counts.initializations == 1


async def test_while_the_probe_is_out_nobody_else_calls() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos, client(chaos, clock=clock) as server:
        await opened(chaos, server)
        clock.now += 60
        probe = asyncio.create_task(server.request(CallTool("slow", {"seconds": 0.1}), Person()))
        await until(lambda: chaos.counts.runs)
        with pytest.raises(Unreachable, match="being tried just now"):
            await server.request(ECHO, Person())
        await probe
        await server.request(ECHO, Person())


async def test_a_probe_that_fails_starts_the_cooldown_again() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos, client(chaos, clock=clock) as server:
        await opened(chaos, server)
        clock.now += 60
        await chaos.arm(BROKEN)
        await fail(server)
        assert (server.status().breaker, server.status().cooldown) == ("open", 60.0)
        with pytest.raises(Unreachable, match="in 60 s"):
            await server.request(ECHO, Person())


async def test_an_interrupted_probe_neither_closes_nor_rearms_the_breaker() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos, client(chaos, clock=clock) as server:
        await opened(chaos, server)
        clock.now += 60
        probe = asyncio.create_task(server.request(CallTool("slow", {"seconds": 30}), Person()))
        await until(lambda: chaos.counts.runs)
        probe.cancel()
        with pytest.raises(asyncio.CancelledError):
            await probe
        assert server.status().breaker == "half-open"
        await server.request(ECHO, Person())
        assert server.status().breaker == "closed"


async def test_a_probe_on_a_dead_session_asks_for_a_reconnect_and_the_next_call_goes_through() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos, client(chaos, clock=clock) as server:
        await chaos.arm(Fault(kind="refuse", seconds=0.5))
        for _ in range(3):
            call = asyncio.create_task(server.request(COUNT, Person(), timeout=1))
            await until(lambda: server.status().state == "backoff")
            await clock.move(1)
            with pytest.raises(ServerFailed, match="could not be reached"):
                await call
        clock.now += 60
        with pytest.raises(Unreachable, match="chaos is reconnecting"):
            await server.request(COUNT, Person())
        assert (server.status().breaker, server.status().cooldown) == ("open", 60.0)
        while server.status().state != "ready":
            await asyncio.sleep(0.005)
            if server.status().state in ("backoff", "parked"):
                await clock.move(30)
        assert chaos.counts.runs == {}
        await server.request(COUNT, Person())
        assert (server.status().breaker, chaos.counts.keys) == ("closed", {"a": 1})


async def test_a_reconnect_resets_the_breaker_even_if_the_retry_after_it_fails() -> None:
    async with ChaosServer() as chaos, client(chaos, authority=Office("Bearer old", "Bearer new")) as server:
        await chaos.arm(Fault(kind="status", status=500, tool="count", times=2))
        await fail(server, 2)
        assert server.status().failures == 2
        await chaos.arm(Fault(kind="status", status=401, tool="count"), BROKEN)
        await fail(server)
        assert (server.status().failures, server.status().breaker) == (1, "closed")


async def test_every_successful_connection_resets_the_breaker() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await opened(chaos, server)
        server.reconnect()
        await until(lambda: server.status().breaker == "closed")
        await server.request(ECHO, Person())


async def test_a_tools_own_failures_never_open_the_breaker() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        for _ in range(4):
            assert (await server.request(CallTool("fail", {"text": "no"}), Person())).is_error
            with pytest.raises(ServerFailed, match="Missing argument"):
                await server.request(CallTool("count", {}), Person())
        assert (server.status().breaker, server.status().failures) == ("closed", 0)


async def test_logins_that_are_missing_open_the_breaker_too() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        await chaos.arm(Fault(kind="status", status=401, tool="count", times=3))
        for _ in range(3):
            with pytest.raises(NeedsLogin):
                await server.request(COUNT, Person())
        with pytest.raises(Unreachable):
            await server.request(COUNT, Person())


# What it tells


async def test_its_status_is_what_a_person_wants_to_know() -> None:
    clock = HandClock()
    async with ChaosServer() as chaos, client(chaos, clock=clock) as server:
        await server.request(ECHO, Person())
        await chaos.arm(BROKEN)
        await fail(server)
        assert server.status() == Status(
            name="chaos",
            transport="http",
            state="ready",
            breaker="closed",
            tools=12,
            failures=1,
            calls=2,
            latency=0.0,
            protocol="2025-11-25",
            last_error="MCP call failed: HTTP 500: Internal Server Error",
        )


async def test_secrets_do_not_appear_in_its_errors() -> None:
    def mask(text: str) -> str:
        return text.replace("hunter2", "***")

    async with ChaosServer() as chaos, client(chaos, redact=mask) as server:
        await chaos.arm(Fault(kind="rpc", tool="count", text="wrong password hunter2\nreally"))
        with pytest.raises(ServerFailed) as caught:
            await server.request(COUNT, Person())
        assert str(caught.value) == "MCP call failed: wrong password *** really"
        assert "hunter2" not in server.status().last_error


async def test_its_catalog_says_what_it_offers() -> None:
    async with ChaosServer() as chaos, client(chaos) as server:
        catalog = server.catalog
        echo, count = catalog.tools[:2]
        assert (catalog.resources, catalog.prompts, len(catalog.tools)) == (True, True, 12)
        assert (echo.name, echo.description, echo.read_only) == ("echo", "Says the text again.", True)
        assert (count.name, count.read_only, count.idempotent) == ("count", False, False)


@pytest.mark.parametrize("era", ["old", "modern"])
async def test_a_storm_of_changes_is_read_and_told_once(era: Era) -> None:
    clock = HandClock()
    async with ChaosServer(Plan(era=era)) as chaos, client(chaos, clock=clock) as server:
        heard = "GET" if era == "old" else "subscriptions/listen"
        await until(lambda: chaos.counts.requests.get(heard))
        before, told = server.catalog, []
        end = server.watch(lambda one: told.append(one.catalog))
        await asyncio.sleep(0.05)
        await chaos.arm(Fault(kind="storm", times=200), Fault(kind="describe", text="Now it whispers."))
        await until(lambda: 0.1 in [round(nap, 3) for nap in clock.naps])
        await asyncio.sleep(0.1)
        await clock.move(0.1)
        await until(lambda: told)
        assert chaos.counts.requests["tools/list"] == 2
        assert [one.tools[0].description for one in told] == ["Now it whispers."]
        assert told[0].tools[0].contract != before.tools[0].contract
        assert told[0].tools[1:] == before.tools[1:]
        end()


# What it is told


@pytest.mark.parametrize("era", ["old", "modern"])
async def test_progress_is_passed_on_to_the_caller(era: Era) -> None:
    async with ChaosServer(Plan(era=era)) as chaos, client(chaos) as server:
        person = Person()
        await server.request(CallTool("progress", {"steps": 3}), person)
        await until(lambda: len(person.told) == 3)
        assert sorted(person.told) == ["1/3 step 1", "2/3 step 2", "3/3 step 3"]


class Form:
    """Answers a form after a while, and remembers for whom."""

    def __init__(self, clock: HandClock, seconds: float) -> None:
        self._clock, self._seconds = clock, seconds
        self.asked: list[Caller | None] = []

    def callbacks(self, caller: Callable[[], Caller | None]) -> Mapping[str, Any]:
        async def answer(context: Any, params: Any) -> Any:
            from mcp_types import ElicitResult

            self.asked.append(caller())
            await self._clock.sleep(self._seconds)
            return ElicitResult(action="accept", content={"color": "red"})

        return {"elicitation_callback": answer}


@pytest.mark.parametrize("era", ["old", "modern"])
async def test_the_deadline_stands_still_while_a_person_answers_the_server(era: Era) -> None:
    clock = HandClock()
    form, person = Form(clock, seconds=500), Person()
    async with ChaosServer(Plan(era=era)) as chaos, client(chaos, clock=clock, handlers=form) as server:
        call = asyncio.create_task(server.request(CallTool("ask", {}), person, timeout=10))
        await until(lambda: form.asked)
        for _ in range(50):
            await clock.move(10)
        result = await call
        assert "red" in result.content[0].text
        assert form.asked == [person]
