"""A terminal in a folder of its own, and a way to see which processes are left."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from hermes.terminals.backends.local import LocalTerminal
from hermes.terminals.table import from_proc


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "HOME": str(tmp_path), "LANG": "C.UTF-8", "GIVEN": "yes"}


@pytest.fixture
async def terminal(tmp_path: Path, env: dict[str, str]) -> AsyncIterator[LocalTerminal]:
    one = LocalTerminal(str(tmp_path), env)
    yield one
    await one.close()


def sleepers(seconds: str) -> list[int]:
    """The processes that sleep for exactly so long, zombies included as far as they still have a name."""
    found: list[int] = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            words = Path(f"/proc/{name}/cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if words[:2] == [b"sleep", seconds.encode()]:
            found.append(int(name))
    return found


_from_before: set[int] = set()
"""Children that other tests of the same run left to this process, which adopts orphans."""


@pytest.fixture(autouse=True)
def only_new_children() -> None:
    _from_before.clear()
    _from_before.update(children_of_ours())


def children_of_ours() -> list[int]:
    """The children of this process since the test began, zombies included."""
    return [row.pid for row in from_proc() if row.parent == os.getpid() and row.pid not in _from_before]


@pytest.fixture
def nap() -> str:
    """A number of seconds to sleep that no other test sleeps: its processes are found by it."""
    return f"{3600 + int.from_bytes(os.urandom(3))}.5"


async def until(condition: Callable[[], object], seconds: float = 5.0) -> None:
    """Wait for something that will happen soon."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "it did not happen in time"
        await asyncio.sleep(0.005)
