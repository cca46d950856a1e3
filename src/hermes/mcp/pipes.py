"""Reading and writing pipes without ever blocking the loop. The descriptors must be set to non-blocking."""

import asyncio
import os
import time

BLOCK = 1 << 16


async def read(fd: int) -> bytes:
    """The next bytes, b"" at the end. The loop gets its turn before each block, however fast they come."""
    loop = asyncio.get_running_loop()
    while True:
        ready = loop.create_future()
        loop.add_reader(fd, _wake, ready)
        try:
            await ready
        finally:
            loop.remove_reader(fd)
        try:
            return os.read(fd, BLOCK)
        except BlockingIOError:
            continue


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
