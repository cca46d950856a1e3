"""Where skills lie: folders with a SKILL.md, at most three deep, in several places of which the first wins."""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hermes.learning.skills.parse import FILE, Skill, read_skill
from hermes.learning.skills.tree import hash_folder
from hermes.protocol.errors import UserError

Origin = Literal["user", "agent", "hub", "external", "plugin", "bundled"]
DEEPEST = 3
LOOKED_AT = 5_000
"""Folders of one place that are looked at: enough for any collection, and no walk through a whole disk."""


class Place(Struct, frozen=True):
    """A folder that holds skills, and whose they are."""

    folder: Path
    origin: Origin


class Found(Struct, frozen=True, kw_only=True):
    """A skill as it lies on the disk; `trouble` says why it cannot be used."""

    skill: Skill
    folder: Path
    origin: Origin
    trouble: str = ""

    @property
    def name(self) -> str:
        return self.skill.name


class Library:
    """Reads skills from the disk, and reads again only what has changed."""

    def __init__(self) -> None:
        self._read: dict[Path, tuple[tuple[int, int, int], Skill | UserError]] = {}
        self._hashed: dict[Path, tuple[tuple[tuple[str, int, int], ...], str]] = {}

    def find(self, places: Iterable[Place]) -> tuple[dict[str, Found], list[str]]:
        """Skills by name, and a line about each that cannot be read."""
        found: dict[str, Found] = {}
        troubles: list[str] = []
        for place in places:
            for folder, stamp in _folders(place.folder):
                skill = self._skill(folder, stamp)
                if isinstance(skill, UserError):
                    troubles.append(str(skill))
                elif skill.name not in found:
                    category = skill.category or _category(folder, place.folder)
                    if category != skill.category:
                        skill = replace(skill, category=category)
                    found[skill.name] = Found(skill=skill, folder=folder, origin=place.origin)
        return found, troubles

    def hash(self, folder: Path) -> str:
        """The hash of a skill's files; "" if they cannot be read."""
        try:
            stamp = tuple(sorted(_stamps(folder)))
            known = self._hashed.get(folder)
            if known is None or known[0] != stamp:
                known = self._hashed[folder] = stamp, hash_folder(folder)
        except (OSError, UserError):
            return ""
        return known[1]

    def _skill(self, folder: Path, stamp: tuple[int, int, int]) -> Skill | UserError:
        known = self._read.get(folder)
        if known is None or known[0] != stamp:
            try:
                known = stamp, read_skill(folder)
            except UserError as error:
                known = stamp, error
            self._read[folder] = known
        return known[1]


def _folders(root: Path) -> Iterator[tuple[Path, tuple[int, int, int]]]:
    """Folders that hold a SKILL.md, in the order of their names, with what changes when the file does."""
    waiting = [(root, 0)]
    looked = 0
    while waiting and looked < LOOKED_AT:
        folder, depth = waiting.pop()
        looked += 1
        try:
            with os.scandir(folder) as entries:
                inside = sorted(entries, key=lambda entry: entry.name)
        except OSError:
            continue
        file = next((entry for entry in inside if entry.name == FILE), None)
        if file is not None and depth:
            try:
                status = file.stat()
            except OSError:
                continue
            yield folder, (status.st_ctime_ns, status.st_size, status.st_ino)
        elif depth < DEEPEST:
            deeper = [entry for entry in inside if not entry.name.startswith(".") and entry.is_dir()]
            waiting += [(folder / entry.name, depth + 1) for entry in reversed(deeper)]


def _stamps(folder: Path) -> Iterator[tuple[str, int, int]]:
    for where, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(where, name)
            status = os.lstat(path)
            yield path, status.st_ctime_ns, status.st_size


def _category(folder: Path, root: Path) -> str:
    between = folder.relative_to(root).parts[:-1]
    return between[0] if between else ""
