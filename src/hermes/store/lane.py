"""A thread that owns one connection: jobs go in from any event loop, and those that wait together are committed together."""

import asyncio
import contextlib
import errno
import os
import queue
import threading
from collections.abc import Callable
from itertools import groupby
from pathlib import Path
from typing import Any, TypeVar

import apsw

from hermes.protocol.errors import DiskFull, StoreError
from hermes.store.schema import open_current, open_database, open_without_writing
from hermes.store.turns import Turns

T = TypeVar("T")
Work = Callable[[apsw.Connection], Any]
MOST_TOGETHER = 64
LEAST_ROOM = 64 * 1024
PATIENCE = 20.0
"""Seconds that a call waits for other processes before it gives up."""
put_on_disk = getattr(os, "fdatasync", os.fsync)
UNWRITABLE = (OSError, apsw.IOError, apsw.FullError, apsw.ReadOnlyError, apsw.CantOpenError)


class _Job:
    __slots__ = ("_claim", "done", "error", "future", "loop", "result", "work", "writes")

    def __init__(self, work: Work, writes: bool) -> None:
        self.work, self.writes = work, writes
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()
        self.result: Any = None
        self.done = False
        self._claim = threading.Lock()
        self.error: BaseException | None = None

    def claim(self) -> bool:
        """Whether it is the caller's to do, or to give up: whoever asks first."""
        return self._claim.acquire(blocking=False)

    def settle(self) -> None:
        # The loop may be closed by now: then nobody waits for the answer any more.
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self._settle)

    def _settle(self) -> None:
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class Lane:
    """One connection, one thread. `write` returns when the rows are on disk; `read` sees every write before it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.readonly = ""
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None
        self._closed = False
        self._connection: apsw.Connection | None = None
        self._turns = Turns(path)
        self._log = -1

    async def write(self, work: Callable[[apsw.Connection], T]) -> T:
        return await self._submit(work, writes=True)

    async def read(self, work: Callable[[apsw.Connection], T]) -> T:
        return await self._submit(work, writes=False)

    async def _submit(self, work: Work, writes: bool) -> Any:
        if self._closed:
            raise StoreError(f"{self.path} was closed")
        job = _Job(work, writes)
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name=f"store {self.path.name}", daemon=True)
            self._thread.start()
        self._jobs.put(job)
        # A job that has begun cannot be taken back: a caller that is cancelled leaves, and the rows are written all the same.
        timer = job.loop.call_later(PATIENCE, self._give_up, job)
        try:
            return await job.future
        finally:
            timer.cancel()

    def _give_up(self, job: _Job) -> None:
        if not job.future.done() and job.claim():
            held = f"{self.path} has been held by another process for {PATIENCE:.0f} s: is one suspended?"
            job.future.set_exception(StoreError(held))

    async def close(self) -> None:
        """Finish what is queued, close the connection, end the thread."""
        self._closed = True
        if self._thread is not None:
            self._jobs.put(None)
            await asyncio.to_thread(self._thread.join, PATIENCE)

    def _run(self) -> None:
        while (job := self._jobs.get()) is not None:
            jobs = [job]
            last = False
            while len(jobs) < MOST_TOGETHER and not self._jobs.empty():
                following = self._jobs.get()
                if following is None:
                    last = True
                    break
                jobs.append(following)
            self._serve(jobs)
            if last:
                break
        if self._connection is not None:
            self._connection.close()
        if self._log >= 0:
            os.close(self._log)
        self._turns.close()

    def _serve(self, jobs: list[_Job]) -> None:
        """Do these jobs; whatever happens, every caller gets an answer."""
        try:
            if self._connection is None:
                self._connection = self._open()
            self._do(self._connection, jobs)
        except Exception as error:
            for job in jobs:
                if not job.done:
                    job.error = job.error or translate(error, self.path)
            if self._connection is None and isinstance(error, UNWRITABLE) and self.path.exists():
                self._only_read(jobs)
        for done in jobs:
            done.settle()

    def _open(self) -> apsw.Connection:
        self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        connection = open_current(self.path)
        if connection is None:
            with self._turns.mine():
                fresh = not self.path.exists()
                connection, self.readonly = open_database(self.path)
                if fresh:
                    self.path.chmod(0o600)
        if not self.readonly:
            try:
                self._log = os.open(f"{self.path}-wal", os.O_RDONLY | os.O_CLOEXEC)
            except OSError:
                connection.close()
                raise
        return connection

    def _only_read(self, jobs: list[_Job]) -> None:
        """A database that cannot be opened for writing can often still be read, for these jobs only."""
        with contextlib.suppress(apsw.Error), contextlib.closing(open_without_writing(self.path)) as connection:
            connection.execute("PRAGMA schema_version").fetchall()
            for job in jobs:
                if not job.writes:
                    job.error = None
                    self._attempt(connection, job)

    def _do(self, connection: apsw.Connection, jobs: list[_Job]) -> None:
        for writes, group in groupby(jobs, key=lambda job: job.writes):
            if not writes:
                for job in filter(_Job.claim, group):
                    self._attempt(connection, job)
                    job.done = True
                continue
            if self.readonly:
                raise StoreError(self.readonly)
            with self._turns.mine():
                together = list(filter(_Job.claim, group))
                self._transact(connection, together)
            self._sync()
            for job in together:
                job.done = True

    def _sync(self) -> None:
        """Bring the log to disk, behind our turn, so that the next can write meanwhile.

        All of the log before our own rows is on disk then too, whoever wrote it. After a failure nobody knows what of it is,
        and the kernel tells it only once: whatever would be acknowledged behind it could be lost.
        """
        try:
            put_on_disk(self._log)
        except OSError as error:
            why = error.strerror or str(error)
            self.readonly = f"{self.path} cannot be brought to disk ({why}): check the disk, then start Hermes again"
        if os.fstat(self._log).st_nlink == 0:
            self.readonly = f"{self.path} was replaced or removed while it was in use: start Hermes again"
        if self.readonly:
            raise StoreError(self.readonly)

    def _transact(self, connection: apsw.Connection, jobs: list[_Job]) -> None:
        """All jobs in one transaction; one that fails leaves the others whole."""
        connection.execute("BEGIN IMMEDIATE")
        try:
            if len(jobs) == 1:
                self._attempt(connection, jobs[0])
                if jobs[0].error is not None:
                    raise jobs[0].error
                connection.execute("COMMIT")
                return
            for job in jobs:
                connection.execute("SAVEPOINT job")
                self._attempt(connection, job)
                if job.error is not None:
                    if not connection.in_transaction:
                        raise job.error  # a full disk ends the whole transaction by itself
                    connection.execute("ROLLBACK TO job")
                connection.execute("RELEASE job")
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise

    def _attempt(self, connection: apsw.Connection, job: _Job) -> None:
        try:
            job.result = job.work(connection)
        except Exception as error:
            job.error = translate(error, self.path)


def is_full(path: Path, error: Exception | None = None) -> bool:
    """Whether there is no room for this file to grow; SQLite calls that an I/O error where it maps its shared memory."""
    if isinstance(error, apsw.FullError):
        return True
    room = os.statvfs(path.parent)
    return room.f_bavail * room.f_frsize < LEAST_ROOM


def translate(error: Exception, path: Path) -> Exception:
    """SQLite's words as ours; anything that is not about storage stays what it is."""
    match error:
        case apsw.FullError() | apsw.IOError() | apsw.CantOpenError() if is_full(path, error):
            return DiskFull(f"no space left for {path}: nothing was written; free some space and try again")
        case apsw.NotADBError() | apsw.CorruptError():
            return StoreError(f"{path} is damaged ({error}): restore a backup, or move it away to start anew")
        case apsw.ReadOnlyError() | apsw.CantOpenError():
            return StoreError(f"{path} cannot be written ({error}): HERMES_HOME names another home")
        case apsw.Error():
            return StoreError(f"{path}: {error}")
        case OSError(errno=errno.EROFS | errno.EACCES | errno.EPERM):
            return StoreError(f"{path} cannot be written ({error.strerror}): HERMES_HOME names another home")
        case OSError():
            return StoreError(f"{path}: {error.strerror or error}")
        case _:
            return error
