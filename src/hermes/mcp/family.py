"""All processes of one server, found wherever they have gone, and their end.

The group is not enough: what calls setsid leaves it, and when its parent has died nothing else leads to it. So a
process belongs to a server if it is in the session of its leader, carries its mark in the environment, descends from
one that belongs, or was once seen to belong. Where there is no /proc only the group is ended.
"""

import asyncio
import concurrent.futures
import logging
import os
import signal
import threading
import time
from collections import defaultdict
from collections.abc import Sequence

from msgspec import Struct

log = logging.getLogger(__name__)

VARIABLE = "HERMES_SERVER_MARK"
PATIENCE = 1.0

_PROC = "/proc"


class Process(Struct, frozen=True):
    """A row of the system's table; `started` counts clock ticks since boot, `dead` means ended and not yet reaped."""

    pid: int
    parent: int
    group: int
    session: int
    started: int
    dead: bool


class Family:
    """The processes of a server whose leader is not yet reaped: so long, its number means nobody else."""

    def __init__(self, leader: int, mark: str) -> None:
        self._leader = leader
        self._mark = f"\0{VARIABLE}={mark}\0".encode()
        row = _row(leader)
        self._born = row.started if row else 0
        self._seen: dict[int, int] = {}

    def end(self, grace: float) -> list[int]:
        """Ask all to stop, and after `grace` seconds make them; blocks. The numbers of those that could not be ended."""
        if grace and (living := self._living()):
            self._signal(living, signal.SIGTERM)
            deadline = time.monotonic() + grace
            while any(map(self._lives, living)) and time.monotonic() < deadline:
                time.sleep(0.01)
        deadline = time.monotonic() + PATIENCE
        while living := self._living():
            if time.monotonic() > deadline:
                return [row.pid for row in living]
            self._signal(living, signal.SIGKILL)
            time.sleep(0.005)
        return []

    async def ended(self, grace: float) -> list[int]:
        """The same without blocking, in a thread of its own: those of the loop may all be busy."""
        result: concurrent.futures.Future[list[int]] = concurrent.futures.Future()
        result.set_running_or_notify_cancel()

        def run() -> None:
            try:
                result.set_result(self.end(grace))
            except Exception as error:
                result.set_exception(error)

        threading.Thread(target=run, name="mcp-end", daemon=True).start()
        return await asyncio.wrap_future(result)

    def _living(self) -> list[Process]:
        members = self._members()
        for row in members:
            # Orphans come to us instead of init if Hermes has asked for that, as its terminals do.
            if row.dead and row.parent == os.getpid() and row.pid != self._leader:
                _reap(row.pid)
        return [row for row in members if not row.dead]

    def _members(self) -> list[Process]:
        if not os.path.exists(f"{_PROC}/self/stat"):
            return self._group()
        # What is older than the leader cannot come from it.
        rows = {pid: row for pid, row in _table().items() if row.started >= self._born}
        children: defaultdict[int, list[int]] = defaultdict(list)
        for row in rows.values():
            children[row.parent].append(row.pid)
        found = {row.pid for row in rows.values() if self._belongs(row)}
        ahead = list(found)
        while ahead:
            new = set(children[ahead.pop()]) - found
            found |= new
            ahead += new
        self._seen.update((pid, rows[pid].started) for pid in found)
        return [rows[pid] for pid in found]

    def _belongs(self, row: Process) -> bool:
        if self._leader in (row.session, row.group) or self._seen.get(row.pid) == row.started:
            return True
        return row.pid != os.getpid() and self._mark in b"\0" + _read(f"{_PROC}/{row.pid}/environ")

    def _group(self) -> list[Process]:
        """One row that stands for the whole group, if any of it is there."""
        try:
            os.killpg(self._leader, 0)
        except (ProcessLookupError, PermissionError):  # macOS answers EPERM if only the dead are left
            return []
        return [Process(self._leader, os.getpid(), self._leader, self._leader, 0, False)]

    def _lives(self, row: Process) -> bool:
        if not os.path.exists(f"{_PROC}/self/stat"):
            return bool(self._group())
        now = _row(row.pid)
        return now is not None and now.started == row.started and not now.dead

    def _signal(self, rows: Sequence[Process], number: signal.Signals) -> None:
        """Signal whole groups: a child that is being forked right now is in one already."""
        for group in {row.group for row in rows} - {0, 1, os.getpgrp()}:
            try:
                os.killpg(group, number)
            except (ProcessLookupError, PermissionError) as error:
                log.debug("group %d: %s", group, error)


def _table() -> dict[int, Process]:
    rows = (_row(int(name)) for name in os.listdir(_PROC) if name.isdigit())
    return {row.pid: row for row in rows if row is not None}


def _row(pid: int) -> Process | None:
    stat = _read(f"{_PROC}/{pid}/stat")
    # The program's name stands in brackets and may itself hold spaces and brackets.
    fields = stat[stat.rfind(b")") + 2 :].split()
    if len(fields) < 20:
        return None
    # A process whose first thread has ended shows as a zombie although its other threads run on.
    dead = fields[0] in b"ZX" and int(fields[17]) < 2
    return Process(pid, int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]), dead)


def _reap(pid: int) -> None:
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        log.debug("process %d was reaped by somebody else", pid)


def _read(path: str) -> bytes:
    """A file of /proc, or nothing if its process is gone or belongs to somebody else."""
    try:
        with open(path, "rb", buffering=0) as file:
            return b"".join(iter(lambda: file.read(1 << 16), b""))
    except OSError:
        return b""
