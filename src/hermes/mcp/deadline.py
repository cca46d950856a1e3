"""The one deadline of a call: it covers every wait, write, read and retry, and stands still while a person answers."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from hermes.mcp.clock import Clock

TICK = 0.01


class Deadline:
    """So many seconds from now."""

    def __init__(self, clock: Clock, seconds: float) -> None:
        self._clock = clock
        self._until = clock.monotonic() + seconds
        self._people = 0
        self._stopped = 0.0
        self.seconds = seconds

    def left(self) -> float:
        """The seconds that remain, never below 0."""
        now = self._stopped if self._people else self._clock.monotonic()
        return max(0.0, self._until - now)

    @contextmanager
    def paused(self) -> Iterator[None]:
        """Within this, no time passes; several people may be asked at once."""
        if not self._people:
            self._stopped = self._clock.monotonic()
        self._people += 1
        try:
            yield
        finally:
            self._people -= 1
            if not self._people:
                self._until += self._clock.monotonic() - self._stopped

    async def allows(self, work: "asyncio.Future[Any]") -> bool:
        """Wait for the work until the deadline; True if it is done. The work is not stopped."""
        while not work.done() and (self._people or self.left() > 0):
            await self._clock.wait(work, max(self.left(), TICK))
        return work.done()
