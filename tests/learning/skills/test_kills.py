"""kill -9 at any moment of an adoption leaves nothing half-done."""

import random
import subprocess
import sys
import time

from hermes.learning.skills.tree import hash_folder
from hermes.protocol.skills import VISIBLE

KILLS = 6


async def test_a_killed_adoption_is_whole_or_did_not_happen(room, tmp_path):
    dice = random.Random(1)
    changes = 0
    for _ in range(KILLS):
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.learning.skills.adopting_child", str(tmp_path)],
            stdout=subprocess.PIPE,
            text=True,
        )
        assert child.stdout is not None
        assert child.stdout.readline() == "ready\n"
        time.sleep(dice.uniform(0.0, 0.25))
        child.kill()
        child.wait()
        child.stdout.close()
        await room.shelf.refresh()
        [row] = room.shelf.rows.values()
        one = room.shelf.found.get("report")
        assert (one is not None) == (row.state in VISIBLE)
        if one is not None:
            assert one.trouble == ""
            assert hash_folder(one.folder) == row.hash
        changes = max(changes, row.version)
        assert not (room.root / ".archive").exists()
    assert changes > 3
