"""Files and folders of the workspace as a person may quote them: not those that hold keys, nor what lies elsewhere."""

import os
from itertools import islice
from pathlib import Path

from msgspec import Struct

from hermes.protocol.errors import UserError
from hermes.safety.places import Places, inside, is_credential, is_own_secret, names_one_of
from hermes.tools.text import is_binary

MOST_ENTRIES = 200
SHELL_FILES = (
    ".bashrc",
    ".bash_profile",
    ".bash_login",
    ".bash_logout",
    ".bash_history",
    ".profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".zlogin",
    ".zlogout",
    ".zsh_history",
    ".kshrc",
    ".cshrc",
    ".tcshrc",
    ".config/fish",
)


class Lines(Struct, frozen=True):
    """Which lines of a file are meant, both ends included and counted from 1."""

    first: int
    last: int


def find(written: str, root: Path, places: Places) -> Path:
    """The path that was written, with its links followed; UserError if it may not be quoted."""
    path, top = os.path.realpath(root / os.path.expanduser(written)), os.path.realpath(root)
    if not inside(path, top):
        raise UserError("it lies outside the workspace", f"copy it into {top}, or let the model read it")
    if is_credential(path) or is_own_secret(path, places) or names_one_of(os.path.relpath(path, top), SHELL_FILES):
        raise UserError("it is a place where keys are kept", "copy what is needed of it into the message")
    if not os.path.lexists(path):
        raise UserError("it is not there", "check the path")
    return Path(path)


def read(path: Path, lines: Lines | None, most: int) -> str:
    """The text of a file, or some of its lines. Blocks."""
    if not path.is_file():
        raise UserError("it is no file", f"for a folder write @folder:{path.name}")
    try:
        with path.open("rb") as file:
            if is_binary(file.read(8192)):
                raise UserError("it is a binary file", "let the model look at it with its tools")
            file.seek(0)
            data = file.read(most + 1) if lines is None else b"".join(islice(file, lines.first - 1, lines.last))
    except OSError as error:
        raise UserError(f"it cannot be read: {error.strerror}", "check its permissions") from None
    if len(data) > most:
        raise UserError(f"it has more than {most:,} bytes", "quote some lines of it: @file:path:1-200")
    if lines and not data:
        raise UserError(f"it has no line {lines.first}", "check the numbers")
    return data.decode(errors="replace").replace("\r\n", "\n")


def listing(path: Path) -> str:
    """What a folder and the folders in it hold, level by level, up to a number of entries. Blocks."""
    if not path.is_dir():
        raise UserError("it is no folder", f"for a file write @file:{path.name}")
    entries: list[str] = []
    waiting = [path]
    while waiting and len(entries) <= MOST_ENTRIES:
        folder = waiting.pop(0)
        try:
            found = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            entries.append(f"{folder.relative_to(path)}/ (not readable)")
            continue
        for entry in found:
            is_folder = entry.is_dir(follow_symlinks=False)
            name = os.path.relpath(entry.path, path)
            entries.append(f"{name}/" if is_folder else f"{name} ({_size(entry)})")
            if is_folder and entry.name != ".git":
                waiting.append(Path(entry.path))
    if len(entries) > MOST_ENTRIES or waiting:
        entries = [*entries[:MOST_ENTRIES], f"… and more than these {MOST_ENTRIES}"]
    return "\n".join(entries) or "(empty)"


def _size(entry: "os.DirEntry[str]") -> str:
    if entry.is_symlink():
        return "link"
    return f"{entry.stat(follow_symlinks=False).st_size:,} bytes"
