"""Sessions that nobody used for long: which they are, and deleting them, by itself once a day where the settings want it."""

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from hermes.protocol.errors import HermesError, UserError
from hermes.protocol.store import Log, SessionRow, Store

log = logging.getLogger(__name__)
DAY = 86_400.0
EVERY = 1_000_000_000
"""A limit that no home reaches."""


async def unused_for(store: Log, days: float) -> list[SessionRow]:
    """The sessions that were not used for so many days."""
    limit = time.time() - days * DAY
    return [row for row in await store.sessions(limit=EVERY) if row.active < limit]


async def delete_each(store: Log, rows: Iterable[SessionRow], stays: Callable[[UserError], None]) -> int:
    """Delete sessions, one commit each, so that other processes write between them; one that is open stays, and is told."""
    deleted = 0
    for row in rows:
        try:
            deleted += await store.delete([row.id])
        except UserError as error:
            stays(error)
    return deleted


class Pruning:
    """Works beside the sessions of one process. `mark` is a file whose time tells when it was last done; a run that was cut
    goes on with the next session."""

    def __init__(self, store: Store, mark: Path) -> None:
        self._store, self._mark = store, mark
        self._task: asyncio.Task[None] | None = None

    def begin(self, days: float) -> None:
        """Delete what was not used for so many days, unless that was done today."""
        if self._task is None and not self._is_fresh():
            self._task = asyncio.create_task(self._prune(days))

    async def close(self) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    def _is_fresh(self) -> bool:
        return self._mark.exists() and time.time() - self._mark.stat().st_mtime < DAY

    async def _prune(self, days: float) -> None:
        try:
            old = await unused_for(self._store, days)
            deleted = await delete_each(self._store, old, lambda error: log.info("not deleted: %s", error))
            self._mark.touch(mode=0o600)
        except (HermesError, OSError) as error:
            log.warning("old sessions stay for now: %s", error)
        else:
            if deleted:
                log.info("deleted %d sessions that were not used for %g days", deleted, days)
        finally:
            self._task = None
