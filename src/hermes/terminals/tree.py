"""The whole tree of processes that a command has started, and its end.

A process group is not enough: what calls setsid leaves it, and what is orphaned no longer descends from the shell. So a
process belongs to a command if it is in the shell's session, carries the command's mark, descends from a process that
belongs, or was once seen to belong. Orphans become children of ours (a "subreaper", Linux only), and so we can reap them.
"""

import logging
import os
import signal
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Container, Sequence
from functools import cache

from hermes.terminals.marks import marks_of
from hermes.terminals.table import Process, process, processes

log = logging.getLogger(__name__)

GRACE = 0.15
PATIENCE = 0.6
PR_SET_CHILD_SUBREAPER = 36


class Tree:
    """A command's processes: `root` is its shell, `spare` are children that somebody else waits for."""

    def __init__(
        self,
        mark: str,
        root: Process | None = None,
        *,
        spare: Container[int] = (),
        table: Callable[[], list[Process]] = processes,
    ) -> None:
        self._mark = mark
        self._root = root
        self._spare = spare
        self._table = table
        self._seen: dict[int, int] = {root.pid: root.started} if root else {}

    def end(self) -> bool:
        """Ask every process to stop, then make it. Blocks for less than a second; False if one could not be ended."""
        living = self._living()
        _signal(living, signal.SIGTERM)
        deadline = time.monotonic() + GRACE
        while any(map(_lives, living)) and time.monotonic() < deadline:
            time.sleep(0.005)
        deadline = time.monotonic() + PATIENCE
        while living := self._living():
            if time.monotonic() > deadline:
                log.warning("could not end processes %s", [row.pid for row in living])
                return False
            _signal(living, signal.SIGKILL)
            time.sleep(0.003)
        return True

    def members(self) -> list[Process]:
        """The processes there are now, dead ones not yet reaped included."""
        rows = _strangers({row.pid: row for row in self._table()})
        if self._root:
            rows = {pid: row for pid, row in rows.items() if row.started >= self._root.started}
        session = self._session(rows)
        children: defaultdict[int, list[int]] = defaultdict(list)
        for row in rows.values():
            children[row.parent].append(row.pid)
        found = {row.pid for row in rows.values() if row.session == session or self._belongs(row)}
        ahead = list(found)
        while ahead:
            new = set(children[ahead.pop()]) - found
            found |= new
            ahead += new
        self._seen.update((pid, rows[pid].started) for pid in found)
        return [rows[pid] for pid in found]

    def _session(self, rows: dict[int, Process]) -> int | None:
        """The shell's session, unless the shell's number now names another process."""
        if self._root is None:
            return None
        row = rows.get(self._root.pid, self._root)
        return row.pid if row.started == self._root.started else None

    def _belongs(self, row: Process) -> bool:
        if self._seen.get(row.pid) == row.started:
            return True
        return bool(self._mark) and any(mark.startswith(self._mark) for mark in marks_of(row.pid))

    def _living(self) -> list[Process]:
        members = self.members()
        for row in members:
            if row.dead and row.parent == os.getpid() and row.pid not in self._spare:
                _reap(row.pid)
        return [row for row in members if not row.dead]


def _strangers(rows: dict[int, Process]) -> dict[int, Process]:
    """All but ourselves, what we descend from, and our session: none of it can belong to a command, whatever its mark.

    Session 0 is that of the kernel, and of whatever was started outside a container.
    """
    line = {1}
    pid = os.getpid()
    while pid not in line:
        line.add(pid)
        pid = rows[pid].parent if pid in rows else 1
    return {pid: row for pid, row in rows.items() if pid not in line and row.session not in (0, os.getsid(0))}


@cache
def adopt_orphans() -> None:
    """Let orphans of our children become our children instead of init's; once for the whole life of this process."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def reap_adopted(terminal: str, spare: Container[int]) -> None:
    """Reap orphans that became our children and have ended since, but never a child that another part of us started."""
    while pid := _ended_child():
        if pid in spare or not _was_adopted(pid, terminal):
            # The system names only the first: those behind one that is not ours to reap are in the table.
            ended = [row.pid for row in processes() if row.parent == os.getpid() and row.dead]
            for other in ended:
                if other not in spare and _was_adopted(other, terminal):
                    _reap(other)
            return
        _reap(pid)


def _ended_child() -> int:
    try:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return 0
    return ended.si_pid if ended else 0


def _was_adopted(pid: int, terminal: str) -> bool:
    try:
        session = os.getsid(pid)
    except OSError:
        return False
    # Our own child is in our session or leads a new one: a third session can only come with a parent between us.
    return session not in (pid, os.getsid(0)) or any(mark.startswith(terminal) for mark in marks_of(pid))


def _reap(pid: int) -> None:
    try:
        os.waitpid(pid, os.WNOHANG)
    except ChildProcessError:
        log.debug("process %d was reaped by somebody else", pid)


def _lives(row: Process) -> bool:
    now = process(row.pid)
    return now is not None and now.started == row.started and not now.dead


def _signal(rows: Sequence[Process], number: signal.Signals) -> None:
    """Signal whole groups: a child that is being forked right now is in one already."""
    for group in {row.group for row in rows} - {0, 1, os.getpgrp()}:
        try:
            os.killpg(group, number)
        except (ProcessLookupError, PermissionError) as error:
            log.debug("group %d: %s", group, error)
