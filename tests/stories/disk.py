"""Small disks that a story may fill, or forbid to be written."""

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

SIZE = "8m"


class Disk:
    """A disk of 8 MB; `fill` takes all the space there is and `free` gives it back."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._filler = path / "filler"

    def fill(self) -> None:
        with self._filler.open("ab", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                try:
                    while file.write(b"x" * size):
                        continue
                except OSError:
                    continue

    def free(self) -> None:
        self._filler.unlink()

    def forbid_writing(self) -> None:
        subprocess.run(["mount", "-o", "remount,ro", str(self.path)], check=True)


@contextmanager
def mounted(path: Path) -> Iterator[Disk]:
    """Put a small disk there; a test is skipped where that is not allowed."""
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small disk")
    path.mkdir(exist_ok=True)
    mount = ["mount", "-t", "tmpfs", "-o", f"size={SIZE}", "tmpfs", str(path)]
    done = subprocess.run(mount, capture_output=True, text=True)
    if done.returncode:
        pytest.skip(f"a small disk cannot be mounted here: {done.stderr.strip()}")
    try:
        yield Disk(path)
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)
