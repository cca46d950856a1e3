"""A machine that a fake cloud rents out: a folder of its own that its programs see at one path, and nothing else of its own."""

import os
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path


class Machine:
    """Programs see `disk` at `seen_at`, where those of another machine see another disk; bubblewrap does it."""

    def __init__(self, disk: Path, seen_at: Path) -> None:
        self.disk = disk
        self.seen_at = seen_at
        disk.mkdir(parents=True, exist_ok=True)
        seen_at.mkdir(exist_ok=True)
        self.env = {"PATH": os.environ["PATH"], "HOME": str(seen_at), "LANG": "C.UTF-8"}

    def argv(self, words: Sequence[str]) -> list[str]:
        """The local command that runs a program there."""
        folder = str(self.seen_at)
        return ["bwrap", "--dev-bind", "/", "/", "--bind", str(self.disk), folder, "--chdir", folder, "--", *words]

    def stop(self) -> None:
        """End every program: all that see the disk at its place, in whatever session they are."""
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                if str(self.disk) in Path(f"/proc/{name}/mountinfo").read_text():
                    os.kill(int(name), signal.SIGKILL)
            except OSError:
                continue

    def remove(self) -> None:
        self.stop()
        shutil.rmtree(self.disk, ignore_errors=True)
