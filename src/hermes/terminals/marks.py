"""A mark that everything a command starts inherits, by which it is found again wherever it has gone.

    89abcdef0123456
    ├──────┘├─────┘
    terminal call

It is written twice: in the environment, and as the soft limit on real-time CPU (RLIMIT_RTTIME), as a number of
microseconds too large to matter. A limit, unlike the environment, is not lost in `env -i`, and the dead still show it.
"""

import hashlib
import os
import re

from hermes.terminals.table import read

VARIABLE = "HERMES_MARK"

_DIGITS = 15
_FLAG = 1 << 4 * _DIGITS
_IN_ENVIRONMENT = re.compile(rb"\0%s=([0-9a-f]{%d})(?=\0)" % (VARIABLE.encode(), _DIGITS))


def terminal_mark(name: str = "") -> str:
    """The part that all commands of a terminal share: the same for the same name, or random."""
    return (hashlib.sha256(name.encode()).digest() if name else os.urandom(4))[:4].hex()


def call_mark(terminal: str) -> str:
    return terminal + os.urandom(4).hex()[1:]


def limit(mark: str) -> int:
    """The mark as a limit that `ulimit -R` can set."""
    return _FLAG | int(mark, 16)


def marks_of(pid: int) -> tuple[str, ...]:
    """The marks that a process carries; none if it has none or is not ours to look at."""
    marks = _IN_ENVIRONMENT.findall(b"\0" + read(f"/proc/{pid}/environ"))
    for line in read(f"/proc/{pid}/limits").splitlines():
        if line.startswith(b"Max realtime timeout"):
            soft = line.split()[3]
            if soft.isdigit() and int(soft) & ~(_FLAG - 1) == _FLAG:
                marks.append(f"{int(soft) - _FLAG:0{_DIGITS}x}".encode())
    return tuple(mark.decode() for mark in marks)
