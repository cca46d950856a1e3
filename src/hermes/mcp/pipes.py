"""Reading and writing pipes without ever blocking the loop. The descriptors must be set to non-blocking."""

import asyncio
import os
import time

BLOCK = 1 << 16


class Inlet:
    """The reading end of a pipe, watched from its first read until it is closed; it holds one block at most.

    To watch it anew for each block would take two calls of the system more for every answer of a server.
    """

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._watched = False
        self._held: bytes | OSError | None = None
        self._wanted: asyncio.Future[bytes | OSError] | None = None

    async def read(self) -> bytes:
        """The next bytes, b"" at the end. The loop gets its turn before each block, however fast they come."""
        if self._held is not None:
            block, self._held = self._held, None
            await asyncio.sleep(0)
        else:
            block = await self._next()
        if isinstance(block, OSError):
            raise block
        return block

    def close(self) -> None:
        if self._watched:
            self._loop.remove_reader(self._fd)
            self._watched = False

    async def _next(self) -> bytes | OSError:
        if not self._watched:
            self._loop.add_reader(self._fd, self._take)
            self._watched = True
        self._wanted = self._loop.create_future()
        try:
            return await self._wanted
        finally:
            self._wanted = None

    def _take(self) -> None:
        block: bytes | OSError
        try:
            block = os.read(self._fd, BLOCK)
        except BlockingIOError:
            return
        except OSError as error:
            block = error
        if self._wanted is not None and not self._wanted.done():
            self._wanted.set_result(block)
            if block and not isinstance(block, OSError):
                return
        else:
            self._held = block
        self.close()


class Outlet:
    """The writing end of a pipe, which knows for how long the other side has read nothing."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._stuck_since: float | None = None

    async def write(self, data: bytes) -> None:
        """Write all of it, or raise OSError."""
        view = memoryview(data)
        try:
            while view:
                try:
                    view = view[os.write(self._fd, view) :]
                    self._stuck_since = None
                except BlockingIOError:
                    await self._writable()
        finally:
            self._stuck_since = None

    def blocked_for(self) -> float:
        """Seconds since the last byte went out while more are waiting; 0.0 if none are."""
        return 0.0 if self._stuck_since is None else time.monotonic() - self._stuck_since

    async def _writable(self) -> None:
        loop = asyncio.get_running_loop()
        if self._stuck_since is None:
            self._stuck_since = time.monotonic()
        ready = loop.create_future()
        loop.add_writer(self._fd, _wake, ready)
        try:
            await ready
        finally:
            loop.remove_writer(self._fd)


def _wake(ready: asyncio.Future[None]) -> None:
    if not ready.done():
        ready.set_result(None)
