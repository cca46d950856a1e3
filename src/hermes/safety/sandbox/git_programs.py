"""What in a repository decides which programs git starts, whenever the person uses git later."""

import os
import re
from collections.abc import Iterable, Iterator

from hermes.safety.patterns import Pattern
from hermes.safety.sandbox.repository import is_store

RUNS_LATER = ("hooks", "config", "config.worktree")
LARGEST_CONFIG = 1_000_000
MOST_FOLDERS = 500
_NAMES_A_PROGRAM = Pattern(
    r"^\s*(fsmonitor\s*=\s*(?!(true|false|0|1)\s*$)|(hooksPath|sshCommand|pager|editor|askPass|gitProxy|helper|program|command|"
    r"textconv|driver|clean|smudge|process|uploadPack|receivePack|path|vcs)\s*=|\w+\s*=\s*!)",
    re.IGNORECASE | re.MULTILINE,
)


def runs_later(store: str) -> Iterator[str]:
    """What in a .git folder decides which programs git starts: its own, and those of its submodules and worktrees."""
    for folder in (store, *_modules(store)):
        yield from _there(folder, RUNS_LATER)
        if checkout := _checkout(folder):
            yield from _there(checkout, (".git",))
    for tree in _folders(os.path.join(store, "worktrees")):
        yield from _there(tree, ("commondir", "gitdir", "config.worktree"))


def astray(store: str) -> Iterator[str]:
    """Files that only a linked worktree has: anywhere else they have git take its settings from another folder."""
    for folder in (store, *_modules(store)):
        path = os.path.join(folder, "commondir")
        if os.path.lexists(path) and not os.path.isdir(path):
            yield path


def names_programs(store: str) -> bool:
    """Whether the settings or hooks of a .git folder have git start something that is not git's own."""
    hooks = os.path.join(store, "hooks")
    if os.path.isdir(hooks) and any(not name.endswith(".sample") for name in os.listdir(hooks)):
        return True
    try:
        with open(os.path.join(store, "config"), encoding="utf-8", errors="replace") as file:
            return _NAMES_A_PROGRAM.search(file.read(LARGEST_CONFIG)) is not None
    except OSError:
        return False


def _modules(store: str) -> Iterator[str]:
    """The .git folders of submodules, which lie in that of the repository, by the paths of their checkouts."""
    waiting = [os.path.join(store, "modules")]
    for _ in range(MOST_FOLDERS):
        if not waiting:
            return
        for folder in _folders(waiting.pop()):
            if has_history := is_store(folder):
                yield folder
            waiting.append(os.path.join(folder, "modules") if has_history else folder)


def _folders(path: str) -> list[str]:
    try:
        return [entry.path for entry in os.scandir(path) if entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []


def _checkout(module: str) -> str:
    """Where the files of a submodule lie."""
    try:
        with open(os.path.join(module, "config"), encoding="utf-8", errors="replace") as file:
            found = re.search(r"^\s*worktree\s*=\s*(.+?)\s*$", file.read(LARGEST_CONFIG), re.MULTILINE)
    except OSError:
        return ""
    return os.path.realpath(os.path.join(module, found[1])) if found else ""


def _there(folder: str, names: Iterable[str]) -> Iterator[str]:
    for name in names:
        if os.path.lexists(path := os.path.join(folder, name)) and not os.path.islink(path):
            yield path
