"""One loss of an MCP server, and how long until all is well again: recovery.py WHAT [URL] prints a table of figures in JSON."""

import asyncio
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable

import httpx2
import msgspec
from nobody import Nobody, opened, until

from hermes.mcp.chaos.faults import Fault
from hermes.mcp.chaos.ledger import Counts
from hermes.mcp.contract import CallTool
from hermes.mcp.server import Server

MANY = 64
OUTAGE = 1.5
STUCK = 4 << 20
ECHO, SLOW = CallTool("echo", {"text": "hello"}), CallTool("slow", {"seconds": 30})
Figures = dict[str, float]


async def stale(url: str) -> Figures:
    """Many calls at once over a session that the server has forgotten, and the same over one that it knows."""
    async with opened(url) as server:
        sound, _ = await many(server)
        before = await play(url, Fault(kind="expire"))
        taken, done = await many(server)
        after = await play(url)
        anew = after.initializations - before.initializations
        return {"sound": sound, "taken": taken, "done": done, "initializations": anew}


async def outage(url: str) -> Figures:
    """Many calls while the port is closed; the time counts from when it opens again."""
    async with opened(url) as server:
        began = time.monotonic()
        await play(url, Fault(kind="refuse", seconds=OUTAGE))
        await asyncio.sleep(0.1)
        _, done = await many(server)
        return {"taken": (time.monotonic() - began - OUTAGE) * 1000, "done": done}


async def death(url: str) -> Figures:
    """A process is killed while nobody calls; and how long the same one takes to be there at all."""
    began = time.monotonic()
    async with opened() as server:
        start = (time.monotonic() - began) * 1000
        pid = server.status().pid
        assert pid is not None
        killed = time.monotonic()
        os.kill(pid, signal.SIGKILL)
        await until(lambda: server.status().state != "ready")
        noticed = time.monotonic()
        await until(lambda: server.status().state == "ready")
        back = time.monotonic()
        return {"noticed": (noticed - killed) * 1000, "back": (back - killed) * 1000, "start": start}


async def interrupt(url: str) -> Figures:
    """A person interrupts a slow call, over HTTP and over stdio; then one that is stuck in the pipe."""
    async with opened(url) as server:
        http = await stopped(server, SLOW)
    async with opened() as server:
        stdio = await stopped(server, SLOW)
    async with opened() as server:
        pid = server.status().pid
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        stuck = await stopped(server, CallTool("echo", {"text": "x" * STUCK}))
    return {"http": http, "stdio": stdio, "stuck": stuck}


async def many(server: Server) -> tuple[float, int]:
    """The milliseconds for many calls at once, and how many were answered."""
    began = time.monotonic()
    calls = (server.request(ECHO, Nobody()) for _ in range(MANY))
    ends = await asyncio.gather(*calls, return_exceptions=True)
    return (time.monotonic() - began) * 1000, sum(not isinstance(end, BaseException) for end in ends)


async def stopped(server: Server, call: CallTool) -> float:
    task = asyncio.create_task(server.request(call, Nobody()))
    await asyncio.sleep(0.3)
    began = time.monotonic()
    task.cancel()
    await asyncio.wait([task])
    assert task.cancelled(), "it ended by itself"
    return (time.monotonic() - began) * 1000


async def play(url: str, *faults: Fault) -> Counts:
    """Let something happen to the fault server; gives what it has counted so far."""
    async with httpx2.AsyncClient(trust_env=False, verify=False) as hand:
        try:
            place = str(httpx2.URL(url).join("/chaos"))
            reply = await hand.post(place, content=msgspec.json.encode(faults))
            return msgspec.json.decode(reply.content, type=Counts)
        except httpx2.TransportError:  # an outage cuts this connection too
            return Counts()


TRIALS: dict[str, Callable[[str], Awaitable[Figures]]] = {
    "stale": stale,
    "outage": outage,
    "death": death,
    "interrupt": interrupt,
}


async def main(what: str, url: str) -> None:
    print(msgspec.json.encode(await TRIALS[what](url)).decode())


asyncio.run(main(sys.argv[1], sys.argv[2]))
