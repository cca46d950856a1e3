"""Which of some names are in a folder: asked before every command, so a folder that has not changed is not read again."""

import os
import time
from collections.abc import Iterator
from functools import cache

SETTLED = 2.0
"""Seconds after which a folder's time can be trusted: file systems count them in steps of some milliseconds."""


class Folders:
    """What was found in folders, for as long as they stay as they were. One per sandbox."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, tuple[str, ...]], tuple[int, tuple[str, ...]]] = {}

    def those_in(self, folder: str, names: tuple[str, ...]) -> Iterator[str]:
        """The paths of those names that are there now; a name may be a path of several parts."""
        for name in self._candidates(folder, names):
            if os.path.lexists(path := f"{folder}/{name}"):
                yield path

    def _candidates(self, folder: str, names: tuple[str, ...]) -> tuple[str, ...]:
        """The names whose first part is in the folder."""
        try:
            changed = os.stat(folder).st_mtime_ns
            known = self._known.get((folder, names))
            if known is not None and known[0] == changed:
                return known[1]
            tops = _by_top(names)
            found = tuple(name for entry in os.listdir(folder) for name in tops.get(entry, ()))
        except OSError:
            return ()
        if time.time() - changed / 1e9 > SETTLED:
            self._known[folder, names] = changed, found
        return found


@cache
def _by_top(names: tuple[str, ...]) -> dict[str, list[str]]:
    tops: dict[str, list[str]] = {}
    for name in names:
        tops.setdefault(name.partition("/")[0], []).append(name)
    return tops
