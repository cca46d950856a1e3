"""Killed at any moment, the folder and the checkpoints stay usable."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hermes.safety.checkpoints import Checkpoints
from tests.safety.checkpoint_child import KEEP_ALL
from tests.safety.folders import state_of

KILLS = 8
SOAK_KILLS = 200

pytestmark = pytest.mark.needs("git")


def kill_at_work(home: Path, folder: Path, after: float) -> int:
    """Kill a process that takes checkpoints of a folder so many seconds after it began; gives its number."""
    args = [str(home / ".hermes"), str(home), str(folder)]
    command = [sys.executable, "-m", "tests.safety.checkpoint_child", *args]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(after)
        child.kill()
    return child.pid


def check_objects(home: Path) -> None:
    store = home / ".hermes" / "checkpoints" / "store"
    subprocess.run(["git", "--git-dir", str(store), "fsck", "--strict"], check=True, capture_output=True)


async def kill_and_check(tmp_path: Path, kills: int, seed: int) -> None:
    moments = random.Random(seed)
    home = tmp_path.resolve()
    folder = home / "project"
    folder.mkdir()
    for number in range(50):
        (folder / f"{number}.txt").write_text(f"{number}\n" * 50)
    for name in ("a", "b"):
        (folder / name).write_text("in the beginning")
    beginning = state_of(folder)
    checkpoints = Checkpoints(str(home / ".hermes"), str(home), "/usr/local/bin:/usr/bin:/bin", limits=KEEP_ALL)
    for _ in range(kills):
        killed = kill_at_work(home, folder, moments.uniform(0, 0.3))
        oldest = len(await checkpoints.list(str(folder)))
        if oldest:
            found = state_of(folder)
            assert (await checkpoints.restore(str(folder), oldest)).left == ()
            assert state_of(folder).items() >= beginning.items()
            await checkpoints.restore(str(folder), 1)
            assert state_of(folder) == found
        await checkpoints.before_change(str(folder), f"after {killed}")
    check_objects(home)
    await checkpoints.prune()
    assert await checkpoints.list(str(folder))


async def test_kill_at_random_moments_leaves_folder_and_checkpoints_usable(tmp_path: Path) -> None:
    await kill_and_check(tmp_path, KILLS, seed=1)


@pytest.mark.soak
async def test_two_hundred_kills_leave_folder_and_checkpoints_usable(tmp_path: Path) -> None:
    await kill_and_check(tmp_path, SOAK_KILLS, seed=2)


async def test_kills_amid_the_first_checkpoint_of_a_large_folder_leave_it_usable(tmp_path: Path) -> None:
    """The first one of so many files is streamed into packs."""
    moments = random.Random(3)
    for number in range(6):
        home = (tmp_path / str(number)).resolve()
        folder = home / "project"
        folder.mkdir(parents=True)
        for name in range(900):
            (folder / f"{name}.txt").write_text(f"{name}\n" * 50)
        beginning = state_of(folder)
        kill_at_work(home, folder, moments.uniform(0, 0.25))
        checkpoints = Checkpoints(str(home / ".hermes"), str(home), "/usr/local/bin:/usr/bin:/bin", limits=KEEP_ALL)
        await checkpoints.before_change(str(folder), "after")
        (folder / "0.txt").write_text("changed")
        await checkpoints.restore(str(folder), len(await checkpoints.list(str(folder))))
        assert state_of(folder).items() >= beginning.items()
        check_objects(home)
