"""The files of a skill: read as a whole, named by one hash, put in place as a whole."""

import hashlib
import os
from pathlib import Path

from hermes.learning.skills.parse import FILE
from hermes.protocol.errors import UserError

Files = dict[str, bytes]
STAGED = ".staged"
LARGEST_FILE = 1 << 20
MOST_FILES = 200


def read_files(folder: Path) -> Files:
    """Every file of a skill by its path; UserError if there is a link among them, or too much."""
    files: Files = {}
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            path = Path(where) / name
            if path.is_symlink() or not path.is_file():
                raise UserError(f"{path} is no plain file", "a skill has none but those")
            if path.stat().st_size > LARGEST_FILE or len(files) >= MOST_FILES:
                raise UserError(f"{folder} holds too much", f"{MOST_FILES} files of 1 MiB at most")
            files[path.relative_to(folder).as_posix()] = path.read_bytes()
        for name in folders:
            if (Path(where) / name).is_symlink():
                raise UserError(f"{Path(where) / name} is a link", "a skill has none")
    return files


def hash_files(files: Files) -> str:
    """One hash of all names and contents."""
    whole = hashlib.sha256()
    for path in sorted(files):
        whole.update(f"{path}\0{hashlib.sha256(files[path]).hexdigest()}\n".encode())
    return whole.hexdigest()


def hash_folder(folder: Path) -> str:
    return hash_files(read_files(folder))


def has_scripts(files: Files) -> bool:
    """Whether there is something to run among the files: then a person has to look at it."""
    return any(path.startswith("scripts/") or data.startswith(b"#!") for path, data in files.items() if path != FILE)


def write_files(folder: Path, files: Files) -> None:
    """Write the files into a folder that is not there yet, and onto the disk."""
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())


def put(root: Path, category: str, name: str, files: Files, known: frozenset[str]) -> Path:
    """Make the folder of a skill hold these files, under the lock of the root; what nobody `known` wrote there is set aside."""
    import shutil  # it brings every kind of compression along

    target = root / category / name if category else root / name
    staged = root / STAGED / name
    shutil.rmtree(staged, ignore_errors=True)
    write_files(staged, files)
    target.parent.mkdir(parents=True, exist_ok=True)
    take_away(root, target, known)
    staged.rename(target)
    return target


def overlay(folder: Path, files: Files) -> None:
    """Change the files of a folder to these, each of them as a whole."""
    for path in read_files(folder).keys() - files.keys():
        (folder / path).unlink()
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(f".{target.name}.{os.getpid()}")
        unfinished.write_bytes(data)
        unfinished.replace(target)


def take_away(root: Path, target: Path, known: frozenset[str]) -> None:
    """Remove the folder of a skill whose files are kept elsewhere; anything else goes to .archive."""
    if not os.path.lexists(target):
        return
    try:
        digest = hash_folder(target)
    except (UserError, OSError):
        digest = ""
    if digest in known:
        import shutil

        # Out of sight first, in one step: what a kill leaves of it afterwards is nobody's skill.
        gone = root / STAGED / f"{target.name}.gone"
        gone.parent.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(gone, ignore_errors=True)
        target.rename(gone)
        shutil.rmtree(gone)
        return
    archive = root / ".archive"
    archive.mkdir(parents=True, exist_ok=True)
    number = 1
    while os.path.lexists(archive / f"{target.name}.{number}"):
        number += 1
    target.rename(archive / f"{target.name}.{number}")
