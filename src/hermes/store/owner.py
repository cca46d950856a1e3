"""Who owns a session: a process, named so that others can tell whether it still lives."""

import os
from pathlib import Path

from hermes.protocol.ids import new_id

EXPIRES = 30.0
"""Seconds without a heartbeat after which a process on another machine counts as gone."""


def this_process() -> str:
    """A name for one owner in this process: host, pid, start time, and which of its sessions."""
    pid = os.getpid()
    return f"{os.uname().nodename}:{pid}:{_start_of(pid)}:{new_id()}"


def lives(owner: str, beat: float, now: float) -> bool:
    """Whether an owner can still be at work; on this machine a dead process is known at once."""
    host, _, rest = owner.partition(":")
    if host != os.uname().nodename:
        return now - beat < EXPIRES
    pid, start, _ = rest.split(":", 2)
    if not _runs(int(pid)):
        return False
    return not start or start == _start_of(int(pid))


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _start_of(pid: int) -> str:
    """When a process started, in clock ticks; '' where the system does not tell or a zombie is all that is left."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] == b"Z" else fields[19].decode()
