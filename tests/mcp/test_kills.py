"""Whatever dies, whenever: no tool that is not marked idempotent runs twice, every call ends in time, no process is left.

`make soak ARGS="tests/mcp/test_kills.py -s"` prints the figures of the long runs.
"""

import asyncio
import contextlib
import os
import random
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections import Counter
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Self

import httpx2
import msgspec
import pytest

from hermes.mcp.chaos.faults import Fault
from hermes.mcp.chaos.ledger import Counts, read_counts
from hermes.mcp.chaos.plan import Plan
from hermes.mcp.chaos.server import ChaosServer
from hermes.mcp.chaos.stdio import StdioChaos
from hermes.mcp.contract import CallTool, ServerFailed
from hermes.mcp.server import Server
from tests.mcp.rig import Person, client, until

TIMEOUT = 5.0
LATE = 0.25
LONG = [pytest.mark.soak, pytest.mark.timeout(3600)]
HTTP = [
    Fault(kind="reset", when="unread", method="POST"),
    Fault(kind="reset", when="before", tool="count"),
    Fault(kind="reset", when="after", tool="count"),
    Fault(kind="reset", when="midway", tool="count"),
    Fault(kind="garbage", when="after", tool="count"),
    Fault(kind="status", status=503, seconds=0.01, when="after", tool="count"),
    Fault(kind="status", status=502, when="after", tool="count"),
    Fault(kind="expire", lost="404"),
    Fault(kind="expire", lost="bare-400"),
    Fault(kind="expire", lost="rpc"),
]
STDIO = [
    Fault(kind="exit", when="before", tool="count"),
    Fault(kind="exit", when="after", tool="count"),
    Fault(kind="exit", when="midway", tool="count"),
    Fault(kind="exit", when="now"),
]
TYPED = {"done", "OutcomeUnknown", "ServerFailed", "Unreachable"}
"""Ways for a call to end. To time out is not among them: a dead server is noticed long before that."""


class Tally:
    """How calls ended while things were killed."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._numbers = iter(range(1_000_000))
        self.kills = 0
        self.ends: Counter[str] = Counter()
        self.echoes: Counter[str] = Counter()
        self.counted: dict[str, str] = {}
        self.slowest = 0.0

    async def count(self, seconds: float = 0.0) -> None:
        """Call the tool that must not run twice, with a key of its own."""
        key = str(next(self._numbers))
        self.counted[key] = await self._call(CallTool("count", {"key": key, "seconds": seconds}))

    async def echo(self) -> None:
        self.echoes[await self._call(CallTool("echo", {"text": "hello"}))] += 1

    async def _call(self, operation: CallTool) -> str:
        """How it ended: "done", or the name of the error; anything else fails the test."""
        began = time.monotonic()
        try:
            await self._server.request(operation, Person(), timeout=TIMEOUT)
            end = "done"
        except ServerFailed as error:
            end = type(error).__name__
        self.slowest = max(self.slowest, time.monotonic() - began)
        self.ends[end] += 1
        return end

    def check(self, counts: Counts) -> None:
        """What must hold of every run: what was answered ran once, everything else once at most, and all in time."""
        runs = {key: counts.keys.get(key, 0) for key in self.counted}
        twice = sum(number > 1 for number in runs.values())
        print(
            f"\n{self.kills} kills, {self.ends.total()} calls: {dict(self.ends)}; run twice: {twice};"
            f" slowest {self.slowest:.2f} s of {TIMEOUT:g} s"
        )
        assert {key: number for key, number in runs.items() if number > 1} == {}
        assert [key for key, end in self.counted.items() if end == "done" and runs[key] != 1] == []
        assert self.slowest < TIMEOUT + LATE
        assert set(self.ends) <= TYPED


async def back(server: Server) -> None:
    """Wait until it is connected. With no call waiting, five tries can pass before a process is there: then it is asked for."""

    def connected() -> bool:
        if server.status().state == "parked":
            server.reconnect()
        return server.status().state == "ready"

    await until(connected, 20)


# At the worst moment of a request


@pytest.mark.parametrize("stream", [False, True])
@pytest.mark.parametrize("kills", [40, pytest.param(1000, marks=LONG)])
async def test_no_tool_runs_twice_however_its_http_server_fails(kills: int, stream: bool) -> None:
    chance = random.Random(7)
    async with ChaosServer(Plan(stream=stream)) as chaos, client(chaos) as server:
        tally = Tally(server)
        for tally.kills in range(1, kills + 1):
            await chaos.arm(chance.choice(HTTP))
            await asyncio.gather(*(tally.count() for _ in range(3)))
        tally.check(chaos.counts)
        assert tally.ends["done"] >= kills * 2


@pytest.mark.parametrize("kills", [8, pytest.param(300, marks=LONG)])
async def test_no_tool_runs_twice_however_its_process_fails(kills: int, tmp_path: Path) -> None:
    chance, chaos = random.Random(7), StdioChaos(tmp_path)
    async with client(chaos) as server:
        tally = Tally(server)
        for tally.kills in range(1, kills + 1):
            await back(server)
            chaos.arm(chance.choice(STDIO))
            await asyncio.gather(*(tally.count() for _ in range(3)))
        tally.check(chaos.counts)
        assert tally.ends["Unreachable"] == 0


# At any moment


class HttpChaos:
    """A fault server over HTTP in a process of its own, which always comes back at the same port."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process: Process | None = None
        self.url = ""

    async def __aenter__(self) -> Self:
        await self._start("0")
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._end()

    async def kill(self) -> None:
        """As by the system: no word of farewell, every connection gone, then a new process without sessions."""
        await self._end()
        await self._start(str(httpx2.URL(self.url).port))

    async def play(self, fault: Fault) -> None:
        async with httpx2.AsyncClient(trust_env=False, verify=False) as hand:
            # The fault may cut this connection too.
            with contextlib.suppress(httpx2.TransportError):
                await hand.post(str(httpx2.URL(self.url).join("/chaos")), content=msgspec.json.encode(fault))

    async def _start(self, port: str) -> None:
        words = ("-m", "hermes.mcp.chaos", "--http", port, "--folder", str(self._folder))
        self._process = await asyncio.create_subprocess_exec(sys.executable, *words, stdout=PIPE)
        assert self._process.stdout is not None
        self.url = (await self._process.stdout.readline()).decode().strip()
        assert self.url, "the fault server did not start"

    async def _end(self) -> None:
        assert self._process is not None
        self._process.kill()
        await self._process.wait()


async def harass(server: Server, kills: int, kill: Callable[[random.Random], Awaitable[None]]) -> Tally:
    """Kill at a random moment of every round of calls."""
    chance, tally = random.Random(7), Tally(server)
    for tally.kills in range(1, kills + 1):
        await back(server)
        long, moment = chance.uniform(0, 0.02), chance.uniform(0, 0.03)
        calls = [tally.count(), tally.echo(), tally.count(long), tally.echo(), tally.count(2 * long)]
        rounds = asyncio.gather(*calls)
        await asyncio.sleep(moment)
        await kill(chance)
        await rounds
    return tally


@pytest.mark.parametrize("kills", [30, pytest.param(500, marks=LONG)])
async def test_an_http_server_that_is_killed_or_cut_off_at_any_moment(kills: int, tmp_path: Path) -> None:
    cuts = [Fault(kind="refuse", seconds=0.02), Fault(kind="expire", lost="404"), Fault(kind="expire", lost="rpc")]
    async with HttpChaos(tmp_path) as chaos, client(chaos.url) as server:

        async def kill(chance: random.Random) -> None:
            await (chaos.kill() if chance.random() < 0.5 else chaos.play(chance.choice(cuts)))

        tally = await harass(server, kills, kill)
    tally.check(read_counts(tmp_path))
    # There is one second try: whom chance meets twice is told so.
    assert set(tally.echoes) <= {"done", "ServerFailed"} and tally.echoes["done"] >= 0.9 * tally.echoes.total()


@pytest.mark.parametrize("kills", [30, pytest.param(500, marks=LONG)])
async def test_a_process_that_is_killed_at_any_moment(kills: int, tmp_path: Path) -> None:
    chaos = StdioChaos(tmp_path)
    async with client(chaos) as server:

        async def kill(chance: random.Random) -> None:
            if pid := server.status().pid:
                os.kill(pid, signal.SIGKILL)

        tally = await harass(server, kills, kill)
    tally.check(chaos.counts)
    assert set(tally.echoes) <= {"done", "ServerFailed"} and tally.echoes["done"] >= 0.9 * tally.echoes.total()
    assert processes_of(tmp_path) == []


@pytest.mark.parametrize("kills", [5, pytest.param(100, marks=LONG)])
async def test_no_process_is_left_when_wrappers_are_killed(kills: int, tmp_path: Path) -> None:
    chaos = StdioChaos(tmp_path, wrapped=True)
    async with client(chaos) as server:
        for kill in range(1, kills + 1):
            await until(lambda wanted=kill: len(chaos.counts.processes) == wanted, 20)
            pid = server.status().pid
            assert pid is not None
            os.kill(pid, signal.SIGKILL)
            await until(lambda old=pid: server.status().pid not in (None, old), 20)
    assert len(chaos.counts.processes) >= kills
    left = processes_of(tmp_path)
    print(f"\n{kills} wrappers killed, {len(chaos.counts.processes)} servers started, {len(left)} processes left")
    assert left == []


def processes_of(folder: Path) -> list[int]:
    """The processes that still run with this folder in their command line."""
    found: list[int] = []
    for row in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            if row.name.isdigit() and str(folder).encode() in (row / "cmdline").read_bytes():
                found.append(int(row.name))
    return found
