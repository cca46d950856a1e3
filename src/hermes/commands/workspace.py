"""The names of the files in a workspace, for completion: without what git ignores, kept for a while, never too many."""

import asyncio
import os
import time
from collections.abc import Callable
from pathlib import Path

from msgspec import Struct

from hermes.app.repository import Repository
from hermes.protocol.errors import UserError

MOST = 20_000
FRESH = 10.0
"""Seconds for which a list is good."""
SKIPPED = frozenset({"node_modules", "__pycache__", "venv", "target", "site-packages"})


class Names(Struct, frozen=True):
    """Files and folders below a folder, relative to it, folders with a slash behind."""

    files: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()


class Workspace:
    """Lists a folder when it is asked for its names, and keeps the list for a few seconds."""

    def __init__(self, repository: Callable[[Path], Repository]) -> None:
        self._repository = repository
        self._kept: dict[Path, tuple[float, Names]] = {}
        self._listing = asyncio.Lock()

    async def names(self, root: Path) -> Names:
        async with self._listing:
            at, names = self._kept.get(root, (-FRESH, Names()))
            if time.monotonic() - at > FRESH:
                names = await self._list(root)
                self._kept = {root: (time.monotonic(), names)}
            return names

    async def _list(self, root: Path) -> Names:
        try:
            files = (await self._repository(root).files())[:MOST]
        except UserError:  # no repository, or no git: look for ourselves
            files = await asyncio.to_thread(walk, root)
        folders = {f"{parent}/" for name in files for parent in _parents(name)}
        return Names(tuple(sorted(files)), tuple(sorted(folders)))


def walk(root: Path) -> list[str]:
    """Every file below a folder but those in hidden ones and in what tools have made, the nearest first. Blocks."""
    found: list[str] = []
    waiting = [""]
    while waiting and len(found) < MOST:
        below = waiting.pop(0)
        try:
            entries = sorted(os.scandir(root / below), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if not entry.is_dir(follow_symlinks=False):
                found.append(f"{below}{entry.name}")
            elif not entry.name.startswith(".") and entry.name not in SKIPPED:
                waiting.append(f"{below}{entry.name}/")
    return found[:MOST]


def _parents(name: str) -> list[str]:
    parts = name.split("/")[:-1]
    return ["/".join(parts[: count + 1]) for count in range(len(parts))]
