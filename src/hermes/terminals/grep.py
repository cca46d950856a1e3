"""A small ripgrep for machines without one: a program of its own, so that a slow pattern stalls nobody and can be stopped.

It takes the arguments that we give rg and prints what rg would: the same files (hidden ones left out; .gitignore, .ignore
and .rgignore obeyed), the same lines, the same order. Its regular expressions are Python's.
"""

import argparse
import base64
import json
import os
import re
import sys
from collections import deque
from collections.abc import Iterable, Iterator
from typing import BinaryIO

BYTE_ORDER_MARKS = {b"\xff\xfe": "utf-16-le", b"\xfe\xff": "utf-16-be"}


class Globs:
    """The lines of one ignore file, or of the command line, for paths below the folder they stand in."""

    def __init__(self, lines: Iterable[str], caseless: Iterable[str] = ()) -> None:
        self._rules = [_rule(line, 0) for line in lines if line.strip() and not line.startswith("#")]
        self._rules += [_rule(line, re.IGNORECASE) for line in caseless]
        self.names_files = any(not negated for _, negated, _ in self._rules)

    def decide(self, path: str, is_folder: bool) -> bool | None:
        """True if the last rule that fits says yes, False if it says no (`!`), None if none fits."""
        for pattern, negated, folders_only in reversed(self._rules):
            if (is_folder or not folders_only) and pattern.fullmatch(path):
                return not negated
        return None


def _rule(line: str, flags: int) -> tuple[re.Pattern[str], bool, bool]:
    text = line.rstrip("\r\n")
    text = text if text.endswith("\\ ") else text.rstrip()
    negated = text.startswith("!")
    text = text[1:] if negated or text.startswith(("\\!", "\\#")) else text
    folders_only = text.endswith("/")
    text = text.rstrip("/")
    anchored = "/" in text
    text = text.lstrip("/") if anchored else f"**/{text}"
    try:
        pattern = re.compile(_regex(text), re.DOTALL | flags)
    except re.error:  # a broken line of somebody's .gitignore: then it means itself
        pattern = re.compile(re.escape(text))
    return pattern, negated, folders_only


def _regex(glob: str) -> str:
    """A glob as a regular expression; only `**` crosses slashes."""
    out, at, depth = "", 0, 0
    while at < len(glob):
        if glob.startswith("**/", at) and (at == 0 or glob[at - 1] == "/"):
            out, at = out + "(?:.*/)?", at + 3
            continue
        if glob[at:] == "**" and out.endswith("/"):
            return out + ".+"
        char = glob[at]
        at += 1
        match char:
            case "*":
                out += "[^/]*"
            case "?":
                out += "[^/]"
            case "[" if (end := glob.find("]", at + 1 + (glob[at : at + 1] in ("!", "^")))) > 0:
                body = glob[at:end].replace("\\", r"\\").replace("[", r"\[")
                out += "[" + ("^" + body[1:] if body[0] in "!^" else body) + "]"
                at = end + 1
            case "{":
                out, depth = out + "(?:", depth + 1
            case "}" if depth:
                out, depth = out + ")", depth - 1
            case "," if depth:
                out += "|"
            case "\\" if at < len(glob):
                out, at = out + re.escape(glob[at]), at + 1
            case _:
                out += re.escape(char)
    return out


class Folder:
    """A folder on the way down, with the ignore files that stand in it."""

    def __init__(self, path: str, above: "Folder | None") -> None:
        self.path = path
        self.above = above
        self.is_repository = os.path.exists(os.path.join(path, ".git"))
        self.in_repository: bool = self.is_repository or bool(above and above.in_repository)
        # In the order in which they count.
        names = (".rgignore", ".ignore", ".gitignore", ".git/info/exclude")
        self.ignores = tuple(_globs_in(os.path.join(path, name)) for name in names)


def _globs_in(path: str) -> Globs | None:
    try:
        with open(path, errors="replace") as file:
            return Globs(file)
    except OSError:
        return None


def is_ignored(folder: Folder, path: str, is_folder: bool) -> bool | None:
    """Whether ignore files say that a path is to be left out (True) or let in (False)."""
    for kind in range(4):
        of_git = kind >= 2
        level: Folder | None = folder
        while level and (folder.in_repository or not of_git):
            globs = level.ignores[kind]
            verdict = globs.decide(os.path.relpath(path, level.path), is_folder) if globs else None
            if verdict is not None:
                return verdict
            level = None if of_git and level.is_repository else level.above
    return None


def files_below(root: str, globs: Globs, device: int | None) -> Iterator[str]:
    """The files to be searched, folder by folder in the order of their names; on one device if it is given."""
    above: Folder | None = None
    for path in reversed(list(_parents(root))):
        above = Folder(path, above)
    yield from _walk(Folder(root, above), root, globs, device)


def _parents(path: str) -> Iterator[str]:
    while (above := os.path.dirname(path)) != path:
        yield above
        path = above


def _walk(folder: Folder, root: str, globs: Globs, device: int | None) -> Iterator[str]:
    try:
        entries = sorted(os.scandir(folder.path), key=lambda entry: os.fsencode(entry.name))
    except OSError:
        return
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if not _wanted(folder, entry, is_folder, root, globs):
            continue
        if is_folder:
            if device in (None, entry.stat(follow_symlinks=False).st_dev):
                yield from _walk(Folder(entry.path, folder), root, globs, device)
        elif entry.is_file(follow_symlinks=False):
            yield entry.path


def _wanted(folder: Folder, entry: os.DirEntry[str], is_folder: bool, root: str, globs: Globs) -> bool:
    """A glob that was asked for counts more than an ignore file, and that more than being hidden."""
    asked = globs.decide(os.path.relpath(entry.path, root), is_folder)
    if asked is not None:
        return asked
    if globs.names_files and not is_folder:
        return False
    ignored = is_ignored(folder, entry.path, is_folder)
    return not ignored and (ignored is False or not entry.name.startswith("."))


class NotText(Exception):
    """A file with a NUL in it."""


def lines_of(path: str) -> Iterator[str]:
    with open(path, "rb") as file:
        yield from lines_in(file)


def lines_in(file: BinaryIO) -> Iterator[str]:
    """The lines of an open file as text."""
    mark = file.read(3)
    if encoding := BYTE_ORDER_MARKS.get(mark[:2]):
        text = (mark[2:] + file.read()).decode(encoding, "replace")
        yield from (line.rstrip("\r") for line in text.removesuffix("\n").split("\n"))
        return
    file.seek(3 if mark == b"\xef\xbb\xbf" else 0)
    for line in file:
        if b"\0" in line:
            raise NotText
        yield line.rstrip(b"\r\n").decode(errors="replace")


def hits_in(lines: Iterator[str], pattern: re.Pattern[str], context: int, limit: int) -> Iterator[tuple[str, int, str]]:
    """("match" or "context", line number, line), as rg tells them."""
    before: deque[tuple[str, int, str]] = deque(maxlen=context)
    after = hits = 0
    for number, line in enumerate(lines, 1):
        if hits < limit and pattern.search(line):
            yield from before
            before.clear()
            yield "match", number, line
            hits, after = hits + 1, context
        elif after:
            yield "context", number, line
            after -= 1
        elif hits == limit:
            return
        else:
            before.append(("context", number, line))


def main() -> None:
    wanted = _arguments()
    device = os.stat(".").st_dev if wanted.one_file_system else None
    paths = files_below(os.getcwd(), Globs(wanted.glob, wanted.iglob), device)
    if wanted.files:
        for path in paths:
            sys.stdout.buffer.write(os.fsencode(os.path.relpath(path)) + b"\0")
        return
    try:
        pattern = re.compile(wanted.regexp, re.IGNORECASE if wanted.ignore_case else 0)
    except re.error as error:
        sys.exit(f"error: {error}")
    for path in paths if wanted.target == "." else [wanted.target]:
        _report(os.path.relpath(path), pattern, wanted.context, wanted.max_count)


def _arguments() -> argparse.Namespace:
    """Those that say what to search; the others only make rg do what this program does anyway."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    for name in ("--files", "--ignore-case", "--one-file-system"):
        parser.add_argument(name, action="store_true")
    for name in ("--glob", "--iglob"):
        parser.add_argument(name, action="append", default=[])
    for name in ("--max-count", "--context"):
        parser.add_argument(name, type=int)
    parser.add_argument("--regexp")
    parser.add_argument("target")
    return parser.parse_known_args()[0]


def _report(path: str, pattern: re.Pattern[str], context: int, limit: int) -> None:
    name = _name(os.fsencode(path))
    found, not_text = False, None
    try:
        for kind, number, line in hits_in(lines_of(path), pattern, context, limit):
            found = True
            data = {"path": name, "lines": {"text": line}, "line_number": number}
            print(json.dumps({"type": kind, "data": data}))
    except NotText:
        not_text = 0
    except OSError:  # not ours to read, or gone: rg says nothing either
        return
    if found:
        print(json.dumps({"type": "end", "data": {"path": name, "binary_offset": not_text}}), flush=True)


def _name(path: bytes) -> dict[str, str]:
    """A path as rg tells it: as text, or as base64 where it is none."""
    try:
        return {"text": path.decode()}
    except UnicodeDecodeError:
        return {"bytes": base64.b64encode(path).decode()}


if __name__ == "__main__":
    main()
