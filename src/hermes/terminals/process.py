"""A child process: started in a session of its own, watched, and read without ever blocking the loop."""

import asyncio
import errno
import os
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeVar

from hermes.protocol.errors import TerminalError
from hermes.terminals.table import Process, process

T = TypeVar("T")

Popen = Callable[..., subprocess.Popen[bytes]]
"""What starts a program, called as subprocess.Popen is."""

BLOCK = 1 << 17
LAST_WORDS = 0.1


class Child:
    """A process of ours; `exited` holds its code once it has ended (128 + n if signal n ended it)."""

    def __init__(
        self,
        argv: Sequence[str],
        *,
        env: Mapping[str, str],
        cwd: str,
        stdin: int = subprocess.DEVNULL,
        stdout: int,
        stderr: int = subprocess.STDOUT,
        keep: Sequence[int] = (),
        popen: Popen = subprocess.Popen,
    ) -> None:
        try:
            self._popen = popen(
                argv,
                env=env,
                cwd=cwd,
                stdin=stdin,
                stdout=stdout,
                stderr=stderr,
                pass_fds=keep,
                start_new_session=True,
            )
        except OSError as error:
            raise TerminalError(f"cannot start {argv[0]} in {cwd}: {error.strerror}") from error
        self.pid = self._popen.pid
        self._loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[int] = self._loop.create_future()
        self._watch()

    @property
    def row(self) -> Process:
        """Its row in the table of processes. Until we reap it even one that has ended has its own; later the number may
        be somebody else's."""
        known = process(self.pid) if self._popen.returncode is None else None
        return known or Process(self.pid, os.getpid(), self.pid, self.pid, 0, True)

    def kill(self) -> None:
        """End this one process, for a program that starts no others."""
        self._popen.kill()

    def _watch(self) -> None:
        try:
            fd = os.pidfd_open(self.pid)
        except (AttributeError, OSError):  # not Linux, or a kernel before 5.3
            threading.Thread(target=self._wait, name=f"wait-{self.pid}", daemon=True).start()
        else:
            self._loop.add_reader(fd, self._ended, fd)

    def _ended(self, fd: int) -> None:
        self._loop.remove_reader(fd)
        os.close(fd)
        self._settle(self._popen.wait())

    def _wait(self) -> None:
        code = self._popen.wait()
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._settle, code)

    def _settle(self, code: int) -> None:
        if not self.exited.done():
            self.exited.set_result(128 - code if code < 0 else code)


class Reader:
    """Hands on what comes out of a pipe or pseudo-terminal; `ended` is done when nothing more can come."""

    def __init__(self, fd: int, feed: Callable[[bytes], None]) -> None:
        self._fd = fd
        self._feed = feed
        self._loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = self._loop.create_future()
        os.set_blocking(fd, False)
        self._loop.add_reader(fd, self._read)

    async def rest(self) -> None:
        """Wait for the end, but not long: a process left behind may hold the other side open for ever."""
        await until(self.ended, LAST_WORDS)

    def ignore(self) -> None:
        """Keep on reading, so that nobody blocks or dies of writing, but hand nothing on."""
        self._feed = lambda data: None

    def close(self) -> None:
        if not self.ended.done():
            self._loop.remove_reader(self._fd)
            os.close(self._fd)
            self.ended.set_result(None)

    def _read(self) -> None:
        try:
            data = os.read(self._fd, BLOCK)
        except BlockingIOError:
            return
        except OSError:  # EIO: a pseudo-terminal that nobody has open any more
            data = b""
        if data:
            self._feed(data)
        else:
            self.close()


class Writer:
    """Writes to a pipe or pseudo-terminal as fast as the other side reads."""

    def __init__(self, fd: int) -> None:
        self._fd = fd
        self._loop = asyncio.get_running_loop()
        self._turn = asyncio.Lock()
        self._ready: asyncio.Future[None] | None = None
        self._closed = False
        os.set_blocking(fd, False)

    async def write(self, data: bytes) -> None:
        """Write all of it, or raise OSError."""
        async with self._turn:
            view = memoryview(data)
            while view:
                if self._closed:
                    raise OSError(errno.EPIPE, "its input is closed")
                try:
                    view = view[os.write(self._fd, view) :]
                except BlockingIOError:
                    await self._writable()

    def close(self) -> None:
        if not self._closed:
            self._closed = True
            self._wake()
            os.close(self._fd)

    async def _writable(self) -> None:
        self._ready = self._loop.create_future()
        self._loop.add_writer(self._fd, self._wake)
        try:
            await self._ready
        finally:
            self._wake()

    def _wake(self) -> None:
        if self._ready is not None:
            self._loop.remove_writer(self._fd)
            if not self._ready.done():
                self._ready.set_result(None)
            self._ready = None


async def until(future: asyncio.Future[Any], seconds: float) -> None:
    """Wait for something, but not longer than that; it goes on whatever becomes of the waiting."""
    if future.done():
        return
    loop = asyncio.get_running_loop()
    over: asyncio.Future[None] = loop.create_future()

    def wake(_: object = None) -> None:
        if not over.done():
            over.set_result(None)

    timer = loop.call_later(seconds, wake)
    future.add_done_callback(wake)
    try:
        await over
    finally:
        timer.cancel()
        future.remove_done_callback(wake)


async def settled(work: asyncio.Future[T]) -> T:
    """The result of work that cannot be stopped half-way: a cancellation waits for it, and then goes on."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    return work.result()


def in_own_thread(call: Callable[[], T]) -> asyncio.Future[T]:
    """Run a blocking call in a thread that it need not wait for, however busy the loop's own threads are."""
    loop = asyncio.get_running_loop()
    work: asyncio.Future[T] = loop.create_future()

    def run() -> None:
        try:
            result = call()
        except Exception as error:
            loop.call_soon_threadsafe(work.set_exception, error)
        else:
            loop.call_soon_threadsafe(work.set_result, result)

    threading.Thread(target=run, name="terminal", daemon=True).start()
    return work


def scratch(data: bytes = b"") -> int:
    """A descriptor of a nameless file that holds these bytes, in memory where possible: a full disk stops no command."""
    if hasattr(os, "memfd_create"):
        fd = os.memfd_create("hermes")
    else:
        import tempfile

        with tempfile.TemporaryFile() as file:
            fd = os.dup(file.fileno())
    fill(fd, data)
    return fd


def fill(fd: int, data: bytes) -> None:
    """Write all of it, to be read from the beginning."""
    view = memoryview(data)
    while view:
        view = view[os.write(fd, view) :]
    os.lseek(fd, 0, os.SEEK_SET)


def contents(fd: int) -> bytes:
    """Everything in such a file, wherever its reader or writer stands."""
    return os.pread(fd, os.fstat(fd).st_size, 0)
