"""Time as the supervisor of a server sees it: a clock that a test can move by hand."""

import asyncio
import time
from typing import Any, Protocol


class Clock(Protocol):
    """Seconds that only go forward, and a way to let them pass."""

    def monotonic(self) -> float: ...

    async def sleep(self, seconds: float) -> None: ...

    async def wait(self, work: "asyncio.Future[Any]", seconds: float) -> None:
        """Until the work is done, at most so long; the work is not stopped."""
        ...


class SystemClock:
    """The time of this machine."""

    def monotonic(self) -> float:
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def wait(self, work: "asyncio.Future[Any]", seconds: float) -> None:
        loop = asyncio.get_running_loop()
        woken: asyncio.Future[None] = loop.create_future()

        def wake(_: object = None) -> None:
            if not woken.done():
                woken.set_result(None)

        timer = loop.call_later(seconds, wake)
        work.add_done_callback(wake)
        try:
            await woken
        finally:
            timer.cancel()
            work.remove_done_callback(wake)


async def either(clock: Clock, seconds: float, event: asyncio.Event) -> bool:
    """Wait for the event, at most so long; True if it came."""
    if event.is_set() or seconds <= 0:
        return event.is_set()
    tasks = {asyncio.ensure_future(event.wait()), asyncio.ensure_future(clock.sleep(seconds))}
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
    return event.is_set()
