"""Deletes sessions that nobody used for long, at most once a day, where the settings want it."""

import asyncio
import logging
import time
from pathlib import Path

from hermes.protocol.errors import HermesError, UserError
from hermes.protocol.store import Store

log = logging.getLogger(__name__)
DAY = 86_400.0
EVERY = 1_000_000_000


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
            limit = time.time() - days * DAY
            old = [row.id for row in await self._store.sessions(limit=EVERY) if row.active < limit]
            deleted = sum([await self._delete(session) for session in old])
            self._mark.touch(mode=0o600)
        except (HermesError, OSError) as error:
            log.warning("old sessions stay for now: %s", error)
        else:
            if deleted:
                log.info("deleted %d sessions that were not used for %g days", deleted, days)
        finally:
            self._task = None

    async def _delete(self, session: str) -> int:
        """One commit each, so that others write between them; one that is open stays."""
        try:
            return await self._store.delete([session])
        except UserError as error:
            log.info("not deleted: %s", error)
            return 0
