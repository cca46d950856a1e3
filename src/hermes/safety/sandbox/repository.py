"""Where git keeps a folder's history, so that a commit can be made though the folder is only a part of the repository."""

import os
from collections.abc import Iterator

from hermes.safety.sandbox.folders import Folders, Listing


def git_folders(work: Listing, folders: Folders) -> Iterator[str]:
    """The .git folders that work in this folder writes to: its own or the one above it, and those of folders in it."""
    own = f"{work.path}/.git"
    for found in (own,) if os.path.lexists(own) else folders.lately(f"above {work.path}", lambda: _above(work.path)):
        yield from _stores(found)
    for name in work.folders:
        if name != ".git" and os.path.lexists(path := f"{work.path}/{name}/.git") and is_store(path):
            yield path


def _above(folder: str) -> Iterator[str]:
    """The nearest .git above a folder."""
    while (above := os.path.dirname(folder)) != folder:
        folder = above
        if os.path.lexists(path := os.path.join(folder, ".git")):
            yield path
            return


def _stores(path: str) -> Iterator[str]:
    """A .git folder as it is; of a linked worktree, the folder of the repository it belongs to.

    A command can write whatever it likes into a .git file, so the other side has to name this worktree too.
    """
    if is_store(path):
        yield path
    elif os.path.isfile(path) and not os.path.islink(path):
        store = _first_line(path).removeprefix("gitdir:").strip()
        store = os.path.realpath(os.path.join(os.path.dirname(path), store))
        common = os.path.dirname(os.path.dirname(store))
        named = _first_line(os.path.join(store, "gitdir"))
        is_worktree = os.path.basename(os.path.dirname(store)) == "worktrees"
        if is_worktree and named and os.path.realpath(named) == path and is_store(common):
            yield common


def is_store(path: str) -> bool:
    if os.path.islink(path):
        return False
    return os.path.isfile(os.path.join(path, "HEAD")) and os.path.isdir(os.path.join(path, "objects"))


def _first_line(path: str) -> str:
    try:
        with open(path, encoding="utf-8", errors="surrogateescape") as file:
            return file.readline(4096).strip()
    except OSError:
        return ""
