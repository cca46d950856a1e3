"""Processes that write take turns in the order in which they came, one at a time, whoever dies among them."""

import fcntl
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from threading import Thread

import pytest

from hermes.store.turns import Turns

PATIENCE = 20.0
HOLDER = """
import sys, time
from pathlib import Path
from hermes.store.turns import Turns
with Turns(Path(sys.argv[1])).mine():
    print("mine", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "state.db"


def ask(path: Path, name: str, came: list[str]) -> Thread:
    """A thread that waits for a turn with files of its own, as another process does, and tells when it has it."""

    def run() -> None:
        with closing(Turns(path)) as turns, turns.mine():
            came.append(name)

    thread = Thread(target=run, daemon=True)
    thread.start()
    return thread


def until(done: Callable[[], bool]) -> None:
    ends = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < ends
        time.sleep(0.001)


def drawn(path: Path) -> int:
    queue = path.with_name(f"{path.name}.queue")
    return int.from_bytes(queue.read_bytes()) if queue.exists() else 0


def stand_in_line(path: Path, name: str, came: list[str]) -> Thread:
    before = drawn(path)
    thread = ask(path, name, came)
    until(lambda: drawn(path) == before + 1)
    return thread


def test_those_who_wait_come_in_the_order_of_their_coming(path):
    came: list[str] = []
    with closing(Turns(path)) as turns:
        with turns.mine():
            threads = [stand_in_line(path, str(n), came) for n in range(8)]
            assert came == []
        for thread in threads:
            thread.join(PATIENCE)
    assert came == [str(n) for n in range(8)]


def test_who_asks_again_at_once_stands_behind_those_who_waited(path):
    came: list[str] = []
    with closing(Turns(path)) as turns:
        for _ in range(50):
            with turns.mine():
                waiting = stand_in_line(path, "waited", came)
            with turns.mine():
                came.append("again")
            waiting.join(PATIENCE)
    assert came == ["waited", "again"] * 50


def test_without_others_no_number_is_drawn(path):
    with closing(Turns(path)) as turns:
        for _ in range(3):
            with turns.mine():
                pass
    assert drawn(path) == 0


def test_one_that_dies_in_line_neither_stops_it_nor_lets_the_next_in_too_early(path):
    came: list[str] = []
    command = [sys.executable, "-c", HOLDER, str(path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"mine\n"
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as in_line:
            until(lambda: drawn(path) == 1)
            following = stand_in_line(path, "next", came)
            in_line.kill()
        following.join(0.1)
        assert came == []
        holder.kill()
    following.join(PATIENCE)
    assert came == ["next"]


def test_only_one_at_a_time_has_its_turn(path):
    tally = path.with_name("tally")
    tally.write_text("0")

    def count() -> None:
        with closing(Turns(path)) as turns:
            for _ in range(100):
                with turns.mine():
                    seen = int(tally.read_text())
                    time.sleep(0)
                    tally.write_text(str(seen + 1))

    threads = [Thread(target=count) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert tally.read_text() == "800"


def test_where_bytes_cannot_be_locked_the_lock_does_alone(path, monkeypatch):
    for name in ("F_OFD_GETLK", "F_OFD_SETLK", "F_OFD_SETLKW"):
        monkeypatch.setattr(fcntl, name, 9_999)  # the kernel knows no such call
    came: list[str] = []
    with closing(Turns(path)) as turns:
        for _ in range(3):
            with turns.mine():
                waiting = ask(path, "waited", came)
                waiting.join(0.05)
                assert waiting.is_alive()
            waiting.join(PATIENCE)
    assert came == ["waited"] * 3


@pytest.mark.parametrize("content", [None, b"\xff" * 4, b"\n"])
def test_a_queue_that_is_no_queue_costs_the_order_and_not_the_turn(path, content):
    queue = path.with_name("state.db.queue")
    queue.write_bytes(content) if content else queue.mkdir()
    came: list[str] = []
    with closing(Turns(path)) as turns:
        with turns.mine():
            waiting = ask(path, "waited", came)
            waiting.join(0.05)
            assert came == []
        waiting.join(PATIENCE)
    assert came == ["waited"]
