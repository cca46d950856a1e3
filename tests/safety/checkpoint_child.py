"""A process that takes checkpoints and rolls back for ever, to be killed at any moment.

    python -m tests.safety.checkpoint_child HERMES_HOME USER_HOME FOLDER

It says "ready" on stdout once it has begun.
"""

import asyncio
import os
import sys
from pathlib import Path

from hermes.safety.checkpoints import Checkpoints
from hermes.safety.snapshots import Limits

KEEP_ALL = Limits(snapshots=100_000)


async def main(home: str, user_home: str, folder: str) -> None:
    checkpoints = Checkpoints(home, user_home, "/usr/local/bin:/usr/bin:/bin", limits=KEEP_ALL)
    print("ready", flush=True)
    turn = 0
    while True:
        turn += 1
        await checkpoints.before_change(folder, f"{os.getpid()}:{turn}")
        for name in ("a", "b", "new"):
            beside = Path(folder, f".{name}")
            beside.write_text(f"{os.getpid()} {turn} " * 1000)
            beside.replace(Path(folder, name))
        await checkpoints.restore(folder, 1)


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
