"""Brings what was said into the index while nobody waits for it, so that a search has little left to read."""

import asyncio
import logging
from contextlib import aclosing
from typing import TYPE_CHECKING

from hermes.agent.session import Session
from hermes.app.alongside import Alongside
from hermes.protocol.errors import HermesError
from hermes.protocol.events import TurnEnded, TurnStarted

if TYPE_CHECKING:
    from hermes.app import App

log = logging.getLogger(__name__)
REST = 30.0
"""Seconds without a turn after which a session rests."""
SETTLING = 2.0
"""Seconds after the end of a session; a process that is about to end leaves the work to the next search."""
LONGEST = 10.0


class Indexing:
    """Follows the sessions of one process. What it did not get to is read by the next search."""

    def __init__(self, app: "App", *, rest: float = REST, settling: float = SETTLING) -> None:
        self._app = app
        self._rest, self._settling = rest, settling
        self._tasks = Alongside()
        self._reading = asyncio.Lock()

    def follow(self, session: Session) -> None:
        self._tasks.start(self._follow(session))

    async def close(self) -> None:
        await self._tasks.close()

    async def _follow(self, session: Session) -> None:
        loop = asyncio.get_running_loop()
        rests: asyncio.TimerHandle | None = None
        try:
            async with aclosing(session.events(after=session.history.seq)) as events:
                async for event in events:
                    if isinstance(event.body, TurnStarted | TurnEnded) and rests is not None:
                        rests.cancel()
                    if isinstance(event.body, TurnEnded):
                        rests = loop.call_later(self._rest, lambda: self._tasks.start(self._catch_up()))
        finally:
            if rests is not None:
                rests.cancel()
        await asyncio.sleep(self._settling)
        await self._catch_up()

    async def _catch_up(self) -> None:
        if self._reading.locked():
            return
        from hermes.learning.recall.search import Search

        async with self._reading:
            try:
                await Search(self._app.store.index).catch_up(seconds=LONGEST)
            except HermesError as error:
                log.info("the index of what was said is left to the next search: %s", error)
