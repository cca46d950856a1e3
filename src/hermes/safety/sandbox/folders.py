"""What lies in a folder: asked before every command, so a folder that has not changed is not read again."""

import os
import time
from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Any, TypeVar

from msgspec import Struct

T = TypeVar("T")

SETTLED = 2.0
"""Seconds after which a folder's time can be trusted: file systems count them in steps of some milliseconds."""
RECENT = 1.0
"""Seconds for which it is as good as now what lies in places that commands cannot change."""


class Listing(Struct, frozen=True):
    """What a folder held at some time of its own: all names, and those that are folders and no links."""

    path: str
    changed: tuple[int, int] = (0, 0)
    names: frozenset[str] = frozenset()
    folders: tuple[str, ...] = ()

    def those(self, names: tuple[str, ...]) -> Iterator[str]:
        """The paths of those names that are there now; a name may be a path of several parts."""
        by_top = _by_top(names)
        for top in self.names & by_top.keys():
            for name in by_top[top]:
                if os.path.lexists(path := f"{self.path}/{name}"):
                    yield path


class Folders:
    """What was found in folders, for as long as they stay as they were. One per sandbox."""

    def __init__(self) -> None:
        self._known: dict[str, Listing] = {}
        self._lately: dict[str, tuple[float, tuple[Any, ...]]] = {}

    def lately(self, what: str, find: Callable[[], Iterable[T]]) -> tuple[T, ...]:
        """What is outside of what commands may write, found again once a second: only others than commands change it."""
        now = time.monotonic()
        known = self._lately.get(what)
        if known is None or now - known[0] > RECENT:
            known = self._lately[what] = now, tuple(find())
        return known[1]

    def look_again(self) -> None:
        """Trust nothing that was found lately: a command was let out."""
        self._lately.clear()

    def look(self, folder: str) -> Listing:
        """What a folder holds now; nothing if it is not there."""
        try:
            # Whoever may write in a folder can set back the first of these times, but not the second.
            changed = (seen := os.stat(folder)).st_mtime_ns, seen.st_ctime_ns
            known = self._known.get(folder)
            if known is not None and known.changed == changed:
                return known
            with os.scandir(folder) as entries:
                found = {entry.name: entry.is_dir(follow_symlinks=False) for entry in entries}
        except OSError:
            return Listing(folder)
        folders = tuple(name for name, is_folder in found.items() if is_folder)
        listing = Listing(folder, changed, frozenset(found), folders)
        if time.time() - max(changed) / 1e9 > SETTLED:
            self._known[folder] = listing
        return listing


@cache
def _by_top(names: tuple[str, ...]) -> dict[str, list[str]]:
    """Names by their first part."""
    tops: dict[str, list[str]] = {}
    for name in names:
        tops.setdefault(name.partition("/")[0], []).append(name)
    return tops
