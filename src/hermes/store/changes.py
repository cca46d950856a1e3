"""Whether another process has committed: a glance at the log's file, and only where that was written to, a look inside."""

import asyncio
import os

from hermes.store.lane import Lane
from hermes.store.rows import fetch

GLANCE = 0.2
"""Seconds from one glance to the next."""
LOOK = 10
"""After so many glances it is looked inside anyway: two writes within one tick of the file system's clock look alike."""


class Changes:
    """A number that moves when another process has committed. All who wait for it share one look."""

    def __init__(self, lane: Lane) -> None:
        self._lane = lane
        self._log = f"{lane.path}-wal"
        self._written = (0, 0)
        self._version = 0
        self._looking: asyncio.Future[None] | None = None

    async def after(self, since: int) -> int:
        """The number as soon as it is another one, and not at once."""
        while True:
            if self._looking is None or self._looking.done():
                self._looking = asyncio.ensure_future(self._look())
            await asyncio.shield(self._looking)
            if self._version != since:
                return self._version

    def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()

    async def _look(self) -> None:
        for _ in range(LOOK):
            await asyncio.sleep(GLANCE)
            if (written := _written(self._log)) != self._written:
                self._written = written
                break
        # data_version moves on the writing connection only when another process has committed.
        self._version = await self._lane.read(lambda db: fetch(db, "PRAGMA data_version")[0][0])


def _written(path: str) -> tuple[int, int]:
    """What tells one state of a file from another; to open it would tell no more."""
    try:
        found = os.stat(path)
    except OSError:
        return 0, 0
    return found.st_mtime_ns, found.st_size
