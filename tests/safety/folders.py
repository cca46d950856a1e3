"""What a folder holds, to compare before and after."""

import hashlib
import os
from pathlib import Path

State = dict[bytes, tuple[str, int, bytes]]


def state_of(root: Path | str) -> State:
    """Every file and link below a folder, .git aside, by kind, permissions and bytes."""
    top = os.fsencode(root)
    found: State = {}
    for folder, folders, files in os.walk(top):
        folders[:] = [name for name in folders if name != b".git"]
        for name in [*files, *(each for each in folders if os.path.islink(os.path.join(folder, each)))]:
            path = os.path.join(folder, name)
            key = os.path.relpath(path, top)
            if os.path.islink(path):
                found[key] = ("link", 0, os.readlink(path))
            elif os.path.isfile(path):
                with open(path, "rb") as file:
                    found[key] = ("file", os.stat(path).st_mode & 0o777, file.read())
    return found


def fingerprint(root: Path) -> str:
    """A hash over every name, permission, time and byte below a folder."""
    digest = hashlib.sha256()
    for folder, folders, files in sorted(os.walk(root)):
        folders.sort()
        for name in sorted(files):
            path = Path(folder, name)
            status = path.lstat()
            digest.update(f"{path} {status.st_mode} {status.st_mtime_ns} {status.st_size}".encode())
            digest.update(path.read_bytes())
    return digest.hexdigest()
