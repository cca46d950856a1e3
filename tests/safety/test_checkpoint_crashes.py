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
        args = [str(home / ".hermes"), str(home), str(folder)]
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.safety.checkpoint_child", *args], stdout=subprocess.PIPE, text=True
        )
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(moments.uniform(0, 0.3))
        child.kill()
        child.wait()
        child.stdout.close()
        oldest = len(await checkpoints.list(str(folder)))
        if oldest:
            found = state_of(folder)
            assert (await checkpoints.restore(str(folder), oldest)).left == ()
            assert state_of(folder).items() >= beginning.items()
            await checkpoints.restore(str(folder), 1)
            assert state_of(folder) == found
        await checkpoints.before_change(str(folder), f"after {child.pid}")
    store = home / ".hermes" / "checkpoints" / "store"
    subprocess.run(["git", "--git-dir", str(store), "fsck", "--strict"], check=True, capture_output=True)
    await checkpoints.prune()
    assert await checkpoints.list(str(folder))


async def test_kill_at_random_moments_leaves_folder_and_checkpoints_usable(tmp_path: Path) -> None:
    await kill_and_check(tmp_path, KILLS, seed=1)


@pytest.mark.soak
async def test_two_hundred_kills_leave_folder_and_checkpoints_usable(tmp_path: Path) -> None:
    await kill_and_check(tmp_path, SOAK_KILLS, seed=2)
