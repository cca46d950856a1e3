"""Who listens to a session. A slow listener loses deltas, never anything else, and never slows the session down."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable

from hermes.protocol.events import Event

MOST_WAITING = 2_000
Read = Callable[[int], Awaitable[list[Event]]]


class Listener:
    """A queue of events for one reader. When it is full the deltas go; if that is not enough, the log is read instead."""

    def __init__(self) -> None:
        self.waiting: deque[Event] = deque()
        self.ended = False
        self._wake = asyncio.Event()

    def put(self, event: Event) -> None:
        if len(self.waiting) >= MOST_WAITING:
            self.waiting = deque(e for e in self.waiting if e.seq is not None)
            if len(self.waiting) >= MOST_WAITING:
                self.waiting.clear()
        self.waiting.append(event)
        self._wake.set()

    def end(self) -> None:
        self.ended = True
        self._wake.set()

    async def ready(self) -> None:
        await self._wake.wait()
        self._wake.clear()


class Listeners:
    """Everyone who listens to one session; `last` is the seq of the last event that is on disk."""

    def __init__(self, last: int) -> None:
        self.last = last
        self._all: set[Listener] = set()
        self._ended = False

    def tell(self, event: Event) -> None:
        self.last = event.seq or self.last
        for listener in self._all:
            listener.put(event)

    def end(self) -> None:
        self._ended = True
        for listener in self._all:
            listener.end()

    async def follow(self, after: int, read: Read) -> AsyncGenerator[Event]:
        """Every event behind `after`, without a gap or a repetition: first those that are on disk by now, then live ones."""
        listener = Listener()
        listener.ended = self._ended
        self._all.add(listener)
        try:
            async for event in _replay(after, self.last, read):
                after = event.seq or after
                yield event
            while True:
                while listener.waiting:
                    event = listener.waiting.popleft()
                    if event.seq is not None:
                        if event.seq <= after:
                            continue
                        if event.seq > after + 1:  # too much was waiting, and was let go
                            async for missed in _replay(after, event.seq - 1, read):
                                yield missed
                        after = event.seq
                    yield event
                if listener.ended:
                    return
                await listener.ready()
        finally:
            self._all.discard(listener)


async def _replay(after: int, last: int, read: Read) -> AsyncGenerator[Event]:
    """The events of the log behind one and up to another."""
    while after < last and (events := await read(after)):
        for event in events:
            after = event.seq or after
            if after <= last:
                yield event
