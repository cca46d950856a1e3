"""What a command, or a piece of this process, costs: CPU, wall clock and memory."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from statistics import median

from msgspec import Struct

WAIT = Path(__file__).parent / "programs" / "wait.py"
PATIENCE = 600.0


class Failed(Exception):
    """A command that the bench needs did not work."""


class Cost(Struct, frozen=True):
    """One run: milliseconds of CPU with the children it waited for, milliseconds by the clock, megabytes at its peak."""

    cpu: float
    wall: float
    peak: float
    out: str = ""


def run(command: Sequence[str | Path], *, env: Mapping[str, str], cwd: Path, patience: float = PATIENCE) -> Cost:
    """Run a command to its end; raises Failed with its last words if that is not a good one."""
    words = [str(word) for word in command]
    ours, theirs = os.pipe()
    with os.fdopen(ours) as told:
        child = subprocess.Popen(
            [sys.executable, "-I", "-S", str(WAIT), str(theirs), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=dict(env),
            cwd=cwd,
            pass_fds=[theirs],
            start_new_session=True,
        )
        os.close(theirs)
        try:
            out, err = child.communicate(timeout=patience)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.communicate()
            raise Failed(f"{words[0]} was not done after {patience:.0f} s") from None
        numbers = told.read().split()
    if not numbers or numbers[0] != "0":
        last = (err.strip() or out.strip() or "no output").splitlines()[-1]
        raise Failed(f"{words[0]} ended with code {numbers[0] if numbers else child.returncode}: {last}")
    cpu, wall, peak = map(float, numbers[1:])
    return Cost(cpu, wall, peak, out)


def least(times: Iterable[float]) -> float:
    """Of several CPU times the one that was disturbed least: what else a machine does can only add to them."""
    return min(times)


def cpu(costs: Iterable[Cost]) -> float:
    return least(cost.cpu for cost in costs)


def peak(costs: Iterable[Cost]) -> float:
    return median(cost.peak for cost in costs)


class Stopwatch:
    """CPU milliseconds of this process, all its threads, while the block ran."""

    def __enter__(self) -> "Stopwatch":
        self.cpu = 0.0
        self._began = time.process_time()
        return self

    def __exit__(self, *_: object) -> None:
        self.cpu = (time.process_time() - self._began) * 1000
