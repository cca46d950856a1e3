"""Processes that outlive the call that started them."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from typing import Literal, Protocol

from msgspec.structs import replace

from hermes.protocol.errors import TerminalError
from hermes.protocol.terminals import BackgroundProcess, ProcessInfo
from hermes.terminals.ends import Ends
from hermes.terminals.output import Ring, decoded
from hermes.terminals.process import LAST_WORDS, Child, Reader, Writer, until

TRACKED = 64
KEPT_FOR = 30 * 60.0
END_OF_INPUT = b"\x04"


class Background:
    """One process, its input, and the ring of its newest output; `end` ends its whole tree."""

    def __init__(
        self,
        info: ProcessInfo,
        child: Child,
        ends: Ends,
        end: Callable[[], Awaitable[object]],
        on_output: Callable[[str], None] | None,
        on_exit: Callable[[ProcessInfo], None] | None,
    ) -> None:
        self.info = info
        self.ended_at: float | None = None
        self._child = child
        self._input = Writer(ends.input)
        self._end = end
        self._ring = Ring()
        self._told = decoded(on_output) if on_output else None
        self._on_exit = on_exit
        self._outcome: Literal["exited", "killed"] = "exited"
        self._reader = Reader(ends.output, self._take)
        self._over = asyncio.get_running_loop().create_task(self._follow())

    def output(self, offset: int | None = None, limit: int | None = None) -> tuple[str, int]:
        """Output from byte `offset` on (None: what is new since the last such call), and the offset behind it."""
        return self._ring.read(offset, limit, final=self._over.done())

    async def wait(self, timeout: float) -> ProcessInfo:
        await until(self._over, timeout)
        return self.info

    async def write(self, data: bytes) -> None:
        """Write all of it; waits while the process does not read."""
        try:
            await self._input.write(data)
        except OSError as error:
            raise TerminalError(f"{self.info.id} takes no more input: {error.strerror}") from error

    async def close_input(self) -> None:
        if self.info.pty:
            await self.write(END_OF_INPUT)
        else:
            self._input.close()

    async def kill(self) -> ProcessInfo:
        """End the process and all that it has started, also what it left behind after its own end."""
        self.expect_end()
        await self._end()
        await until(self._over, LAST_WORDS * 2)
        self._reader.close()
        return self.info

    def expect_end(self) -> None:
        """From now on an end of the process is our doing."""
        if not self._child.exited.done():
            self._outcome = "killed"

    def _take(self, data: bytes) -> None:
        self._ring.add(data)
        if self._told:
            self._told(data, False)

    async def _follow(self) -> None:
        code = await self._child.exited
        await self._reader.rest()
        self._input.close()
        self.ended_at = time.monotonic()
        self.info = replace(self.info, state=self._outcome, code=code)
        if self._told:
            self._told(b"", True)
        if self._on_exit:
            self._on_exit(self.info)


class Watched(BackgroundProcess, Protocol):
    """A background process as its terminal looks after it."""

    ended_at: float | None

    def expect_end(self) -> None: ...


class Tracked:
    """The background processes of a terminal, oldest first: those that run, and for half an hour those that ended."""

    def __init__(self) -> None:
        self._all: list[Watched] = []

    def current(self) -> tuple[Watched, ...]:
        now = time.monotonic()
        self._all = [one for one in self._all if one.ended_at is None or now - one.ended_at < KEPT_FOR]
        return tuple(self._all)

    def make_room(self) -> None:
        """Forget the process that ended first if there are as many as can be tracked."""
        ended = [one for one in self.current() if one.ended_at is not None]
        if len(self._all) < TRACKED:
            return
        if not ended:
            raise TerminalError(f"{TRACKED} background processes are running; end one before you start another")
        self._all.remove(min(ended, key=lambda one: one.ended_at or 0.0))

    def add(self, one: Watched) -> None:
        self._all.append(one)
