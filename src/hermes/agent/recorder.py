"""The one place where a session's events get their seq: noted in order, committed in batches, told to listeners once on disk."""

import asyncio
import logging
from collections.abc import Callable, Iterable

from hermes.agent.history import History
from hermes.agent.listeners import Listeners
from hermes.protocol.errors import LeaseLost, StoreError
from hermes.protocol.events import Body, Event, ItemDelta, ItemDone, Notice
from hermes.protocol.store import Batch, Blob, JournalRow, Store
from hermes.protocol.wire import encode_body

log = logging.getLogger(__name__)
AGAIN = 1.0
"""Seconds until what could not be committed is tried again."""
SOON = 0.015
"""Seconds that an event may wait for others to be committed with; a fast answer is one commit, a slow one is not held up."""
KEPT_OUTPUT, KEPT_PIECES = 8_000, 64


class Recorder:
    """Notes bodies at once and commits them soon. What a failed commit did not write stays noted and goes with the next."""

    def __init__(self, store: Store, session: str, owner: str, history: History, parent: str, now: Callable[[], float]):
        self.listeners = Listeners(history.seq)
        self.history = history
        self.lost: LeaseLost | None = None
        self._store, self._session, self._owner, self._parent, self._now = store, session, owner, parent, now
        self._partial: dict[str, dict[str, list[str]]] = {}
        self._noted: list[Event] = []
        self._applied: list[str] = []
        self._begin: list[JournalRow] = []
        self._end: list[str] = []
        self._blobs: list[Blob] = []
        self._begun: set[str] = set()
        self._lock = asyncio.Lock()
        self._timer: asyncio.TimerHandle | None = None
        self._later: asyncio.Task[None] | None = None

    def note(self, body: Body, *, applied: Iterable[str] = (), blobs: Iterable[Blob] = ()) -> None:
        """Take an event in; it is part of the history now and on disk soon."""
        durable = not isinstance(body, ItemDelta)
        if durable:
            encode_body(body)  # what cannot be stored must fail here, before it has a number
        seq = self.history.seq + 1 if durable else None
        event = Event(
            session=self._session, parent=self._parent, turn=self.history.turn, seq=seq, at=self._now(), body=body
        )
        self._applied.extend(applied)
        self._blobs.extend(blobs)
        self._follow(body)
        if durable:
            self.history.apply(event)
        elif not self._noted and not self._lock.locked():
            self.listeners.tell(event)
            return
        self._noted.append(event)
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(SOON, self._commit_later)

    def opened(self, event: Event) -> None:
        """Take in the first event, which was stored together with the session."""
        self.history.apply(event)
        self.listeners.last = self.history.seq

    def start_turn(self, body: Body, *, applied: Iterable[str]) -> None:
        self.history.turn += 1
        self.note(body, applied=applied)

    def apply(self, op: str) -> None:
        """An op has had its effect; its row goes with the next commit."""
        self._applied.append(op)

    def partial(self, item: str) -> dict[str, str]:
        """What an open item has grown to, by channel; of its output the end."""
        return {channel: "".join(pieces) for channel, pieces in self._partial.get(item, {}).items()}

    async def begin(self, row: JournalRow) -> None:
        """Return once it is on disk that this has begun, with everything noted before it."""
        self._begin.append(row)
        self._begun.add(row.ref)
        await self.commit()

    def end(self, ref: str) -> None:
        self._begun.discard(ref)
        self._end.append(ref)

    def end_all(self) -> None:
        """Whatever had begun in this turn is over."""
        for ref in tuple(self._begun):
            self.end(ref)

    async def commit(self) -> None:
        """Put everything noted so far on disk, then tell the listeners. A caller that is cancelled leaves it running."""
        await asyncio.shield(asyncio.create_task(self._commit()))

    async def _commit(self) -> None:
        async with self._lock:
            if self.lost is not None:
                raise self.lost
            if self._timer is not None:
                self._timer.cancel()
                self._timer = None
            noted, self._noted = self._noted, []
            batch = Batch(
                events=tuple(e for e in noted if e.seq is not None),
                applied=tuple(self._applied),
                begin=tuple(self._begin),
                end=tuple(self._end),
                blobs=tuple(self._blobs),
            )
            try:
                if batch != Batch():
                    await self._store.append(self._session, self._owner, batch)
            except LeaseLost as error:
                self.lost = error
                raise
            except StoreError:
                self._noted = noted + self._noted
                raise
            del self._applied[: len(batch.applied)], self._begin[: len(batch.begin)]
            del self._end[: len(batch.end)], self._blobs[: len(batch.blobs)]
            for event in noted:
                self.listeners.tell(event)

    async def commit_or_tell(self) -> None:
        """Commit; if that fails, tell the listeners that it is not saved, and try again until it is."""
        try:
            await self.commit()
        except StoreError as error:
            notice = Notice(f"not saved: {error}", level="error", code="unsaved")
            self.listeners.tell(Event(session=self._session, turn=self.history.turn, at=self._now(), body=notice))
            self._try_again(error)

    def close(self) -> None:
        """No more tries for what could not be committed."""
        self.listeners.end()
        if self._timer is not None:
            self._timer.cancel()

    def _commit_later(self) -> None:
        self._timer = None
        self._later = asyncio.get_running_loop().create_task(self._commit_soon())

    async def _commit_soon(self) -> None:
        """A commit that nobody waits for."""
        try:
            await self.commit()
        except StoreError as error:
            self._try_again(error)

    def _try_again(self, error: StoreError) -> None:
        log.warning("session %s: %s", self._session, error)
        if self.lost is None and self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(AGAIN, self._commit_later)

    def _follow(self, body: Body) -> None:
        """Keep what open items have grown to; a done item's journal row goes with the commit that holds it."""
        match body:
            case ItemDelta(item=item, channel=channel, text=text):
                pieces = self._partial.setdefault(item, {}).setdefault(channel, [])
                pieces.append(text)
                if channel == "output" and len(pieces) > KEPT_PIECES:
                    pieces[:] = ["".join(pieces)[-KEPT_OUTPUT:]]
            case ItemDone(item=item):
                self._partial.pop(item.id, None)
                if item.id in self._begun:
                    self.end(item.id)
            case _:
                pass
