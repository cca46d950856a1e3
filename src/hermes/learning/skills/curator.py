"""The curator: once a week, when nobody is at work, it tries skills again, and puts away what did not help."""

import time
from collections.abc import Awaitable, Callable

from msgspec import Struct

from hermes.learning.skills.life import Ages, Life
from hermes.protocol.skills import Skills

BEGAN, RAN, PAUSED = "curator began", "curator ran", "curator paused"
HOUR = 3_600.0


class Rhythm(Struct, frozen=True):
    """How many hours lie between two runs, and for how many nobody must have been at work; `ages` of skills in days."""

    interval: float = 168
    idle: float = 2
    ages: Ages = Ages()


class Curator:
    """One of them works at a time, whatever number of processes share a home; `owner` names this process."""

    def __init__(
        self,
        life: Life,
        try_again: Callable[[], Awaitable[list[str]]],
        rhythm: Rhythm,
        owner: str,
        now: Callable[[], float] = time.time,
    ) -> None:
        self._life = life
        self._try_again = try_again
        self._rhythm = rhythm
        self._owner = owner
        self._now = now

    @property
    def _store(self) -> Skills:
        return self._life.shelf.store

    async def is_due(self, active: float) -> bool:
        """Whether it is time for a run, if somebody was last at work then. The first is a whole interval after the start."""
        if await self._store.noted(PAUSED):
            return False
        since = await self._store.noted(RAN) or await self._store.noted(BEGAN)
        if not since:
            await self._store.note(BEGAN, self._now())
            return False
        return self._now() - since >= self._rhythm.interval * HOUR and self._now() - active >= self._rhythm.idle * HOUR

    async def run(self) -> list[str]:
        """Tend all skills; tells what was done, nothing if another process is at it."""
        if not await self._store.claim("curator", self._owner):
            return []
        try:
            told = [*await self._try_again(), *await self._life.tend(self._rhythm.ages)]
            await self._store.note(RAN, self._now())
            return told
        finally:
            await self._store.release("curator", self._owner)

    async def pause(self, paused: bool) -> None:
        await self._store.note(PAUSED, self._now() if paused else 0.0)

    async def status(self) -> tuple[float, bool]:
        """When it last ran (0: never), and whether it is paused."""
        return await self._store.noted(RAN), bool(await self._store.noted(PAUSED))
