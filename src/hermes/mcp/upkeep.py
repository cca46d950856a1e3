"""What a connection needs while nobody calls: a sign of life now and then, and for a process an end to its age or its rest."""

import asyncio
from typing import TYPE_CHECKING, Any, Literal

from hermes.config import McpServer
from hermes.mcp.clock import Clock, either
from hermes.mcp.contract import Fault
from hermes.mcp.exchange import CallFailed

if TYPE_CHECKING:
    from hermes.mcp.generation import Generation

KEEPALIVE_LEAST = 5.0
ALIVE = 10.0

Duty = Literal[
    "ping",
    "renew",  # it is older than it may be
    "sleep",  # nobody has used it for so long that it is stopped
]


def next_duty(generation: "Generation", settings: McpServer, born: float) -> tuple[Duty, float]:
    """What is to be done next, and when on the clock."""
    times: dict[Duty, float] = {"ping": generation.last_used + max(KEEPALIVE_LEAST, settings.keepalive_interval)}
    if generation.process and settings.max_lifetime_seconds:
        times["renew"] = born + settings.max_lifetime_seconds
    if generation.process and settings.idle_timeout_seconds and not generation.busy:
        times["sleep"] = generation.last_used + settings.idle_timeout_seconds
    return min(times.items(), key=lambda one: one[1])


async def lost_by(work: "asyncio.Task[Any]", clock: Clock) -> Fault | None:
    """Wait for the answer to a request that every server can answer; the fault if the connection proves to be lost."""
    finished = asyncio.Event()
    work.add_done_callback(lambda _: finished.set())
    try:
        answered = await either(clock, ALIVE, finished)
    except asyncio.CancelledError:
        work.cancel()
        raise
    if not answered:
        work.add_done_callback(lambda done: done.cancelled() or done.exception())
        work.cancel()
        return Fault(kind="silent", text=f"no answer within {ALIVE:g} s")
    error = work.exception()
    if isinstance(error, CallFailed) and error.fault and error.fault.kind in ("expired", "refused", "cut"):
        return error.fault
    return None
