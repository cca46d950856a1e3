"""Ops on their way into a session: from this process and, through the store, from others. Each arrives once."""

import asyncio
import logging

from hermes.protocol.errors import StoreError
from hermes.protocol.ops import AnyOp, Receipt
from hermes.protocol.store import Store

log = logging.getLogger(__name__)
AFTER_TROUBLE = 5.0
MOST_SEEN = 1_000
"""Ids of ops that are remembered; one that has had its effect is known by its row."""


class Inbox:
    """The ops of one session in the order of their rows."""

    def __init__(self, store: Store, session: str) -> None:
        self._store, self._session = store, session
        self._arrived: asyncio.Queue[AnyOp] = asyncio.Queue()
        self._seen: set[str] = set()

    async def put(self, op: AnyOp) -> Receipt:
        """Commit an op; it arrives unless one of its id did before."""
        receipt, fresh = await self._store.put(self._session, op)
        if fresh:
            self._take(op)
        return receipt

    async def next(self) -> AnyOp:
        return await self._arrived.get()

    async def fetch(self) -> None:
        """Take in what is in the store and has had no effect yet."""
        pending = await self._store.pending(self._session)
        if len(self._seen) > MOST_SEEN:
            self._seen &= {op.id for op in pending}
        for op in pending:
            self._take(op)

    async def watch(self) -> None:
        """Go on taking in what other processes put into the store."""
        state = 0
        while True:
            try:
                state = await self._store.changed(state)
                await self.fetch()
            except StoreError as error:
                log.warning("session %s cannot look for ops: %s", self._session, error)
                await asyncio.sleep(AFTER_TROUBLE)

    def _take(self, op: AnyOp) -> None:
        if op.id not in self._seen:
            self._seen.add(op.id)
            self._arrived.put_nowait(op)
