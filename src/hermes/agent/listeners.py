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

    def forget(self, seq: int) -> None:
        """Drop what waits up to an event that was read from the log, with the deltas before it."""
        stale = max((n for n, e in enumerate(self.waiting, 1) if e.seq is not None and e.seq <= seq), default=0)
        for _ in range(stale):
            self.waiting.popleft()

    def end(self) -> None:
        self.ended = True
        self._wake.set()

    async def ready(self) -> None:
        await self._wake.wait()
        self._wake.clear()


class Listeners:
    """Everyone who listens to one session."""

    def __init__(self) -> None:
        self._all: set[Listener] = set()
        self._ended = False

    def tell(self, event: Event) -> None:
        for listener in self._all:
            listener.put(event)

    def end(self) -> None:
        self._ended = True
        for listener in self._all:
            listener.end()

    async def follow(self, after: int, read: Read) -> AsyncGenerator[Event]:
        """Every event behind `after`: first those of the log, then live ones, without a gap or a repetition."""
        listener = Listener()
        listener.ended = self._ended
        self._all.add(listener)
        try:
            async for event in _replay(after, read):
                after = event.seq or after
                yield event
            listener.forget(after)
            while True:
                while listener.waiting:
                    event = listener.waiting.popleft()
                    if event.seq is None:
                        yield event
                    elif event.seq > after:
                        if event.seq > after + 1:
                            async for missed in _replay(after, read):
                                after = missed.seq or after
                                yield missed
                        if event.seq > after:
                            after = event.seq
                            yield event
                if listener.ended:
                    return
                await listener.ready()
        finally:
            self._all.discard(listener)


async def _replay(after: int, read: Read) -> AsyncGenerator[Event]:
    while events := await read(after):
        for event in events:
            yield event
        after = events[-1].seq or after
