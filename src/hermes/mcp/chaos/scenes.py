"""What takes more than one call to prove: many callers at once, an interrupt, changes, death while nobody looks."""

import asyncio
import os
import time

from hermes.mcp.chaos.faults import Fault
from hermes.mcp.chaos.trial import ECHO, Outcome, Trial, until
from hermes.mcp.contract import CallTool, Operation

CROWD = 64
PROMPT = 0.05
"""Seconds in which an interrupt returns."""
WEDGED = 0.3
STORM = 200
ALMOST = 4
"""Lists that a storm may cause at most: it is coalesced in steps, and a slow machine takes several."""

Seen = tuple[str, float]
"""What was seen, and the seconds until all was well again."""


async def crowd(trial: Trial, operation: Operation, fault: Fault) -> Seen:
    """Many calls at once meet one fault."""
    connects = trial.connects
    await trial.arm(fault)
    began = time.monotonic()
    endings = await asyncio.gather(*(trial.ask(operation) for _ in range(CROWD)))
    seconds = time.monotonic() - began
    runs = sum(trial.counts.keys.values())
    tally = ", ".join(f"{endings.count(ending)} {ending}" for ending in sorted(set(endings)))
    return f"{tally}, ran {runs}x, {_times(trial.connects - connects)}", seconds


async def interrupt(trial: Trial) -> Seen:
    """A person stops a call that takes long."""
    connects = trial.connects
    call = asyncio.create_task(trial.ask(CallTool("slow", {"seconds": 30})))
    await until(lambda: trial.counts.runs.get("slow"))
    began = time.monotonic()
    call.cancel()
    await asyncio.wait({call})
    seconds = time.monotonic() - began
    await until(lambda: trial.counts.cancelled)
    await trial.recover()
    pace = "at once" if seconds < PROMPT else f"after {seconds * 1000:.0f} ms"
    return f"returned {pace}, cancelled {trial.counts.cancelled}x, {_times(trial.connects - connects)}", seconds


async def storm(trial: Trial) -> Seen:
    """The server says again and again that its tools have changed, and in the end one has."""
    before = _contract(trial)
    lists = trial.counts.requests["tools/list"]
    began = time.monotonic()
    await trial.arm(Fault(kind="storm", times=STORM), Fault(kind="describe", text="Says it differently."))
    await until(lambda: _contract(trial) != before)
    seconds = time.monotonic() - began
    read = trial.counts.requests["tools/list"] - lists
    return f"change seen, {'read a few times' if read <= ALMOST else f'read {read}x'}", seconds


async def new_schema(trial: Trial) -> Seen:
    """A tool takes other arguments than when it was approved."""
    before = _contract(trial)
    began = time.monotonic()
    await trial.arm(Fault(kind="schema"))
    await until(lambda: _contract(trial) != before)
    return "change seen", time.monotonic() - began


async def die_idle(trial: Trial) -> Seen:
    """The process ends while nobody calls."""
    connects = trial.connects
    began = time.monotonic()
    await trial.arm(Fault(kind="exit", when="now"))
    await until(lambda: trial.connects > connects)
    await trial.recover()
    return f"started anew by itself, {_times(trial.connects - connects)}", time.monotonic() - began


async def orphan(trial: Trial) -> Seen:
    """The wrapper of a server dies, and the server would live on unseen."""
    connects = trial.connects
    (child,) = trial.counts.processes
    began = time.monotonic()
    await trial.arm(Fault(kind="orphan"))
    await until(lambda: trial.connects > connects)
    await trial.recover()
    seconds = time.monotonic() - began
    await until(lambda: not _alive(child))
    return f"old server ended, {_times(trial.connects - connects)}", seconds


async def wedge(trial: Trial, effect: bool) -> Seen:
    """The process reads nothing more, and the request is larger than the pipe."""
    large = "x" * 1_000_000
    operation = CallTool("count", {"key": large}) if effect else CallTool("echo", {"text": large})
    outcome, seconds = await trial.outcome(operation, (Fault(kind="wedge"),), WEDGED)
    return str(outcome), seconds


def _times(connects: int) -> str:
    return str(Outcome("answered", connects)).removeprefix("answered, ") if connects else "no reconnect"


def _contract(trial: Trial) -> str:
    return next(tool.contract for tool in trial.server.catalog.tools if tool.name == ECHO.name)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
