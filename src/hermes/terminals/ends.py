"""The two sides of a process's input and output: a pair of pipes, or a pseudo-terminal."""

import fcntl
import os
import struct
import termios

from msgspec import Struct

from hermes.terminals.process import scratch

ROWS, COLUMNS = 30, 120


class Ends(Struct, frozen=True):
    """`stdin` and `stdout` are the process's side; we read from `output` and write to `input`, if it is there."""

    stdin: int
    stdout: int
    output: int
    input: int = -1

    @property
    def tty(self) -> str:
        return os.ttyname(self.stdin) if os.isatty(self.stdin) else ""

    def close_theirs(self) -> None:
        for fd in {self.stdin, self.stdout}:
            os.close(fd)

    def close_ours(self) -> None:
        for fd in {self.output, self.input} - {-1}:
            os.close(fd)


def given(data: bytes) -> Ends:
    """A process that reads these bytes, or nothing."""
    stdin = scratch(data) if data else os.open(os.devnull, os.O_RDONLY)
    output, stdout = os.pipe()
    return Ends(stdin, stdout, output)


def pipes() -> Ends:
    stdin, ours = os.pipe()
    output, stdout = os.pipe()
    return Ends(stdin, stdout, output, ours)


def pseudo_terminal() -> Ends:
    ours, theirs = os.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    return Ends(theirs, theirs, ours, os.dup(ours))
