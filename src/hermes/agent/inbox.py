"""Ops on their way into a session: from this process and, through the store, from others. Each arrives once."""

import asyncio

from hermes.protocol.ops import AnyOp, Receipt
from hermes.protocol.store import Store


class Inbox:
    """The ops of one session in the order of their rows."""

    def __init__(self, store: Store, session: str) -> None:
        self._store, self._session = store, session
        self._arrived: asyncio.Queue[AnyOp] = asyncio.Queue()
        self._seen: set[str] = set()
        self._last_row = 0

    async def put(self, op: AnyOp) -> Receipt:
        """Commit an op; it arrives unless one of its id did before."""
        receipt, fresh = await self._store.put(self._session, op)
        if fresh:
            self._take(receipt.row, op)
        return receipt

    async def next(self) -> AnyOp:
        return await self._arrived.get()

    async def fetch(self) -> None:
        """Take in what is in the store and has had no effect yet."""
        for row, op in await self._store.pending(self._session, self._last_row):
            self._take(row, op)

    async def watch(self) -> None:
        """Go on taking in what other processes put into the store."""
        state = 0
        while True:
            state = await self._store.changed(state)
            await self.fetch()

    def _take(self, row: int, op: AnyOp) -> None:
        self._last_row = max(self._last_row, row)
        if op.id not in self._seen:
            self._seen.add(op.id)
            self._arrived.put_nowait(op)
