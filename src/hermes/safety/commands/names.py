"""Look up patterns for file names as the shell does, within a bound on the work."""

import os
from fnmatch import fnmatchcase

COST_OF_A_FOLDER = 10


class Names:
    """Finds what patterns stand for, until it has looked at so many names in all; opening a folder counts as ten."""

    def __init__(self, most: int) -> None:
        self._left = most

    def matching(self, pattern: str, folder: str) -> list[str] | None:
        """The paths that a pattern stands for in a folder, written like it; None if it takes too long to say."""
        found = ["/" if pattern.startswith("/") else ""]
        parts = pattern.lstrip("/").replace("[^", "[!").split("/")
        for at, part in enumerate(parts):
            if any(sign in part for sign in "*?["):
                found = [before + name for before in found for name in self._names(os.path.join(folder, before), part)]
            else:
                found = [before + part for before in found]
            if self._left < 0:
                return None
            if at < len(parts) - 1:
                found = [path + "/" for path in found]
        return [path for path in found if os.path.lexists(os.path.join(folder, path))]

    def _names(self, folder: str, pattern: str) -> list[str]:
        self._left -= COST_OF_A_FOLDER
        if self._left < 0:
            return []
        # Before version 5.2 bash counts `..` among what `.*` stands for.
        names = [".", ".."]
        try:
            with os.scandir(folder) as entries:
                for entry in entries:
                    self._left -= 1
                    if self._left < 0:
                        return []
                    names.append(entry.name)
        except (OSError, ValueError):  # a NUL in it
            return []
        hidden = pattern.startswith(".")
        return [name for name in names if (hidden or name[0] != ".") and fnmatchcase(name, pattern)]
