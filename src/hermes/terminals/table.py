"""The processes of this machine: who started whom, and when. Read from /proc, or from `ps` where there is none."""

import os
import subprocess
import time

from msgspec import Struct

HAS_PROC = os.path.exists("/proc/self/stat")


class Process(Struct, frozen=True):
    """One row; `started` counts clock ticks since boot (from ps: seconds since 1970), `dead` means not yet reaped."""

    pid: int
    parent: int
    group: int
    session: int
    started: int
    dead: bool


def process(pid: int) -> Process | None:
    """The process with this number, if there is one."""
    if HAS_PROC:
        return _parse(pid)
    return next((row for row in from_ps() if row.pid == pid), None)


def processes() -> list[Process]:
    return from_proc() if HAS_PROC else from_ps()


def from_proc() -> list[Process]:
    rows = (_parse(int(name)) for name in os.listdir("/proc") if name.isdigit())
    return [row for row in rows if row is not None]


def from_ps() -> list[Process]:
    """The same table on a system without /proc. BSD's ps knows no session number: the group stands in for it."""
    columns = "pid=,ppid=,pgid=,stat=,lstart="
    listing = subprocess.run(["/bin/ps", "-A", "-o", columns], env={"LC_ALL": "C"}, capture_output=True, text=True)
    rows: list[Process] = []
    for line in listing.stdout.splitlines():
        pid, parent, group, state, started = line.split(maxsplit=4)
        born = int(time.mktime(time.strptime(started.strip())))
        rows.append(Process(int(pid), int(parent), int(group), int(group), born, state.startswith("Z")))
    return rows


def read(path: str) -> bytes:
    """A file of /proc, or nothing if its process is gone or belongs to somebody else."""
    try:
        fd = os.open(path, os.O_RDONLY)
    except OSError:
        return b""
    try:
        blocks: list[bytes] = []
        while block := os.read(fd, 1 << 16):
            blocks.append(block)
        return b"".join(blocks)
    except OSError:
        return b""
    finally:
        os.close(fd)


def _parse(pid: int) -> Process | None:
    stat = read(f"/proc/{pid}/stat")
    # The program's name stands in brackets and may itself hold spaces and brackets.
    fields = stat[stat.rfind(b")") + 2 :].split()
    if len(fields) < 20:
        return None
    # A process whose first thread has ended shows as a zombie although its other threads run on.
    dead = fields[0] in b"ZX" and int(fields[17]) < 2
    return Process(pid, int(fields[1]), int(fields[2]), int(fields[3]), int(fields[19]), dead)
