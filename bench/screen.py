"""The full screen: how soon it is painted, how soon a key is seen while much happens, what it holds in memory."""

import fcntl
import os
import select
import struct
import subprocess
import termios
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import quantiles
from typing import Self

from bench.cost import Failed, least
from bench.stage import LAUNCHER, PROGRAMS, PYTHON, Stage
from bench.table import Limit, Row

PATIENCE = 30.0
ROWS, COLUMNS = 40, 100
TOKENS, MESSAGES = 200, 5000
PACE = 0.03
"""Seconds between two keys, about as fast as anybody types."""


def measure(stage: Stage) -> Iterator[Row]:
    ours, bare = stage.alternate(9, lambda: painted(stage, [LAUNCHER]), lambda: painted(stage, _program("bare_screen")))
    yield Row(
        what="full screen: first paint, CPU",
        value=least(ours),
        unit="ms",
        floor=least(bare),
        beside="the least that Textual paints",
        bar=Limit(ratio=1.4),
        aim=Limit(ratio=1.2),
    )
    count, memory = stage.scale(150, 10), 0.0
    with Screen(_program("bare_screen"), stage.env, stage.work) as screen:
        screen.until("painted")
        floor = keys(screen, count)
    for messages in (0, MESSAGES):
        ours, memory = typed(stage, stage.scale(messages, messages // 50), count)
        yield Row(
            what=f"full screen: a key at {TOKENS} tokens/s, {messages:,} messages, p95",
            value=quantiles(ours, n=20)[-1],
            unit="ms",
            floor=quantiles(floor, n=20)[-1],
            beside="in that idle Textual app",
            bar=Limit(value=50),
        )
    yield Row(what=f"full screen: memory with {MESSAGES:,} messages", value=memory, unit="MB")


class Screen:
    """A program at a terminal of its own."""

    def __init__(self, command: Sequence[str | Path], env: Mapping[str, str], cwd: Path) -> None:
        self._fd, theirs = os.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        self._program = subprocess.Popen(
            [str(word) for word in command],
            env={**env, "TERM": "xterm-256color", "COLORTERM": "truecolor"},
            cwd=cwd,
            stdin=theirs,
            stdout=theirs,
            stderr=theirs,
            start_new_session=True,
        )
        os.close(theirs)
        self._seen = b""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._program.kill()
        self._program.wait()
        os.close(self._fd)

    def until(self, text: str) -> float:
        """Wait until a text is drawn; returns the milliseconds that took."""
        began, wanted = time.perf_counter(), text.encode()
        while wanted not in self._seen:
            if time.perf_counter() - began > PATIENCE:
                raise Failed(f"{text!r} was not drawn within {PATIENCE:.0f} s")
            if select.select([self._fd], [], [], 0.5)[0]:
                self._seen = self._seen[-200:] + os.read(self._fd, 1 << 16)
        return (time.perf_counter() - began) * 1000

    def type(self, keys: str) -> None:
        os.write(self._fd, keys.encode())

    @property
    def cpu(self) -> float:
        """CPU milliseconds so far."""
        fields = Path(f"/proc/{self._program.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) * 1000 / os.sysconf("SC_CLK_TCK")

    @property
    def memory(self) -> float:
        """Megabytes at its peak."""
        lines = Path(f"/proc/{self._program.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


def painted(stage: Stage, command: Sequence[str | Path]) -> float:
    """CPU milliseconds from the start of a program to the frame of its box."""
    with Screen(command, stage.env, stage.work) as screen:
        screen.until("─" * 20 if command[0] == LAUNCHER else "▔" * 20)
        return screen.cpu


def keys(screen: Screen, count: int) -> list[float]:
    """Milliseconds until each of some keys is seen."""
    times: list[float] = []
    for number in range(count):
        # A character that was never on the screen, so that it cannot be found in what is drawn otherwise.
        key = chr(0x4E00 + number)
        screen.type(key)
        times.append(screen.until(key))
        time.sleep(PACE)
    return times


def typed(stage: Stage, messages: int, count: int) -> tuple[list[float], float]:
    """The keys while a reply streams below so many messages; and the memory."""
    server = subprocess.Popen(_program("stream", str(TOKENS), str(TOKENS * 30)), stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    try:
        url = server.stdout.readline().strip()
        with Screen(_program("screen", url, str(messages)), stage.env, stage.work) as screen:
            screen.until("filled")
            screen.type("go\r")
            screen.until("sentence")
            return keys(screen, count), screen.memory
    finally:
        server.kill()
        server.communicate()


def _program(name: str, *args: str) -> list[str | Path]:
    return [PYTHON, "-E", "-s", PROGRAMS / f"{name}.py", *args]
