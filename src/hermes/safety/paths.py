"""Whether a path stays beneath a folder, however it is spelled and whatever links lie on its way."""

import os
import re
import unicodedata
from collections.abc import Iterator
from typing import Literal
from urllib.parse import unquote

from hermes.protocol.actions import Verdict
from hermes.safety.places import inside

Op = Literal["read", "write", "extract"]

SKILL_FOLDERS = ("references", "templates", "scripts", "assets")
"""Where a skill keeps its files, beside its SKILL.md."""

_LONGEST_NAME = 255
_LONGEST_PATH = 4096
_SLASHES = str.maketrans("\u2215\u2044\u29f8\uff0f\uff3c\u29f5\u2216", "///////")
_DRIVE = re.compile(r"[A-Za-z]:([\\/]|$)|[A-Za-z]:[^\\/]*[\\/]")
_HOME = re.compile(r"~(?=[/\\]|$)|~[A-Za-z0-9_-]+(?=[/\\])")


class Outside(Exception):
    """A path that leaves its folder; the rule's name, and why in one line."""

    def __init__(self, rule: str, why: str) -> None:
        super().__init__(why)
        self.rule = rule


def judge_path(path: str, op: Op, root: str) -> Verdict:
    """The verdict on a path beneath `root`: by its spelling, and by the links that are there now."""
    try:
        names = beneath(path, root, absolute=op != "extract")
        if op == "write" and not names:
            raise Outside("folder", "the path is the folder itself")
        check_links(root, names)
        # Where `link/..` is depends on who reads it: Hermes takes both away, the kernel goes up from where the link leads.
        check_links(root, (path,))
    except Outside as outside:
        return Verdict("block", outside.rule, str(outside))
    return Verdict("allow", "beneath")


def judge_skill_file(path: str) -> Verdict:
    """The verdict on a file of a skill: SKILL.md, or something in one of its four folders."""
    try:
        names = beneath(path, "/", absolute=False)
    except Outside as outside:
        return Verdict("block", outside.rule, str(outside))
    if names == ("SKILL.md",) or (len(names) > 1 and names[0] in SKILL_FOLDERS):
        return Verdict("allow", "skill-file")
    return Verdict("block", "skill-file", f"a skill has its files in {', '.join(SKILL_FOLDERS)}")


def beneath(path: str, root: str, *, absolute: bool) -> tuple[str, ...]:
    """The names from the root to a path, or Outside; `absolute` lets a path name the root itself in front."""
    _check_spelling(path)
    if not absolute and path[1:2] == ":" and path[0].isalpha():
        # C:x is a name here, and lies on a drive where Windows unpacks it.
        raise Outside("absolute", "the path names a drive")
    if path.startswith("/"):
        path = _relative(path, root, absolute=absolute)
    for reading in _readings(path):
        if _escapes(reading):
            raise Outside("traversal", "the path leads out of its folder")
    return _names(path)


def check_links(root: str, names: tuple[str, ...]) -> None:
    """Nothing if the links on the way stay beneath the root, else Outside; what is not there yet is no link."""
    folder = os.path.realpath(root)
    try:
        real = os.path.realpath(os.path.join(folder, *names))
    except (OSError, ValueError) as error:
        raise Outside("unreadable", f"the path cannot be followed: {error}") from error
    if not inside(real, folder):
        raise Outside("link", "a link on the way leads out of the folder")


def _relative(path: str, root: str, *, absolute: bool) -> str:
    """What follows the root in a path that names it; the root may be named with or without its links."""
    if absolute and os.path.isabs(root):
        plain = "/" + os.path.normpath(path).lstrip("/")
        for folder in (os.path.normpath(root), os.path.realpath(root)):
            if inside(plain, folder):
                return plain[len(folder.rstrip("/")) :].strip("/") or "."
    raise Outside("absolute", "the path is absolute and lies elsewhere")


def _check_spelling(path: str) -> None:
    if not path:
        raise Outside("empty", "the path is empty")
    if "\0" in path:
        raise Outside("nul", "the path has a NUL in it")
    try:
        size = len(os.fsencode(path))
    except UnicodeEncodeError as error:
        raise Outside("encoding", "the path cannot be written in bytes") from error
    if size >= _LONGEST_PATH or any(len(os.fsencode(name)) > _LONGEST_NAME for name in path.split("/")):
        raise Outside("too-long", "the path or a name in it is too long")
    if _DRIVE.match(path) or re.match(r"(?i)file:", path):
        raise Outside("absolute", "the path names a drive")
    if _HOME.match(path):
        raise Outside("absolute", "the path starts in a home folder")


def _readings(path: str) -> Iterator[str]:
    """How programs may read a path: as it is, with backslashes as slashes, unescaped, with look-alikes as what they look like."""
    for text in {path, unquote(path), unquote(unquote(path)), re.sub(r"(?i)%c0%af|%c0%2f|%252f", "/", path)}:
        plain = unicodedata.normalize("NFKC", text.translate(_SLASHES)).translate(_SLASHES)
        yield text
        yield text.replace("\\", "/")
        yield plain.replace("\\", "/")


def _escapes(path: str) -> bool:
    """Whether a path is absolute or has been above its start at any point."""
    if path.startswith("/") or _DRIVE.match(path) or "\0" in path:
        return True
    depth = 0
    for name in path.split("/"):
        if name == "..":
            depth -= 1
        elif name not in ("", "."):
            depth += 1
        if depth < 0:
            return True
    return False


def _names(path: str) -> tuple[str, ...]:
    names: list[str] = []
    for name in path.split("/"):
        if name == "..":
            names.pop()
        elif name not in ("", "."):
            names.append(name)
    return tuple(names)
