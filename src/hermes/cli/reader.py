"""Lines of input, read in a thread of their own: the loop never stands still for one, and the exit never waits."""

import asyncio
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import SimpleQueue

from msgspec import Struct


class _Wait(Struct, eq=False):
    """Somebody who waits for a line."""

    line: asyncio.Future[str | None]
    fresh: bool


class Lines:
    """Lines from `read`, which blocks and gives None at the end.

    A line goes to whoever asked last, and those who asked before get the next ones. Who stops waiting takes no line
    along: one that comes when nobody waits is kept, for the next who does not want a `fresh` one.
    """

    def __init__(self, read: Callable[[], str | None]) -> None:
        self.reading = False
        self._read = read
        self._loop = asyncio.get_running_loop()
        self._wanted: SimpleQueue[None] = SimpleQueue()
        self._waiting: list[_Wait] = []
        self._kept: deque[str] = deque()
        self._ended = self._held = False
        threading.Thread(target=self._work, name="lines", daemon=True).start()

    async def next(self, *, fresh: bool = False) -> str | None:
        """The next line, None at the end; a fresh one is not yet typed when it is asked for."""
        if self._ended and (fresh or not self._kept):
            return None
        mine = _Wait(self._loop.create_future(), fresh)
        self._waiting.append(mine)
        self._go_on()
        try:
            return await mine.line
        except asyncio.CancelledError:
            if mine.line.done() and not mine.line.cancelled():
                self.give_back(mine.line.result())
            raise
        finally:
            self._waiting.remove(mine)
            self._go_on()

    def give_back(self, line: str | None) -> None:
        """A line that was not meant for who took it."""
        if line:
            self._kept.append(line)

    @contextmanager
    def held(self) -> Iterator[None]:
        """No line is begun meanwhile, whoever waits for one."""
        self._held = True
        try:
            yield
        finally:
            self._held = False
            self._go_on()

    def end(self) -> None:
        """There are no more lines, whatever may still come."""
        self._ended = True
        for wait in self._open():
            wait.line.set_result(None)

    def _go_on(self) -> None:
        """Give what is kept to who waits; begin a line if somebody still does."""
        if self._held:
            return
        for wait in self._open():
            if self._kept and not wait.fresh:
                wait.line.set_result(self._kept.popleft())
        if self._open() and not self.reading and not self._ended:
            self.reading = True
            self._wanted.put(None)

    def _open(self) -> list[_Wait]:
        """Those who still wait, the newest first."""
        return [wait for wait in reversed(self._waiting) if not wait.line.done()]

    def _work(self) -> None:
        while True:
            self._wanted.get()
            line = self._read()
            try:
                self._loop.call_soon_threadsafe(self._arrived, line)
            except RuntimeError:  # the loop is closed: nobody waits any more
                return

    def _arrived(self, line: str | None) -> None:
        self.reading = False
        if line is None:
            return self.end()
        if waits := self._open():
            waits[0].line.set_result(line)
        else:
            self._kept.append(line)


def piped_lines() -> Lines:
    """The lines of a pipe or a file on stdin."""
    # A file object of its own: at exit Python wants the lock of sys.stdin, which a thread that still reads would hold.
    source = open(sys.stdin.fileno(), encoding="utf-8", errors="replace", closefd=False)  # noqa: SIM115
    return Lines(lambda: source.readline() or None)
