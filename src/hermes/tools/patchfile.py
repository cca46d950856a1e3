"""The V4A patch format: several files changed in one text, by quoted lines instead of line numbers.

    *** Begin Patch
    *** Update File: src/a.py
    *** Move to: src/b.py            optional
    @@ class A:                      optional: look below this line; may be repeated to go deeper
     a line that stays
    -a line that goes
    +a line that comes
    *** End of File                  optional: the lines above are the last of the file
    *** Add File: src/c.py
    +its first line
    *** Delete File: src/d.py
    *** End Patch

Line numbers after @@, as in other diffs, are ignored.
"""

import re

from msgspec import Struct

from hermes.protocol.errors import ToolError

_SECTION = re.compile(r"\*\*\* (Add|Delete|Update) File: *(.*\S)")
_LAST = "*** End of File"
_NUMBERS = re.compile(r"^-\d+(,\d+)? \+\d+(,\d+)? @@ ?")


class Hunk(Struct, frozen=True):
    """Lines with their sign (space, minus or plus) in front, to be found below the anchors."""

    lines: tuple[str, ...]
    anchors: tuple[str, ...] = ()
    at_end: bool = False

    @property
    def old(self) -> list[str]:
        return [line[1:] for line in self.lines if line[0] != "+"]


class AddFile(Struct, frozen=True, tag=True):
    path: str
    text: str


class DeleteFile(Struct, frozen=True, tag=True):
    path: str


class UpdateFile(Struct, frozen=True, tag=True):
    path: str
    hunks: tuple[Hunk, ...]
    move_to: str = ""


FileEdit = AddFile | DeleteFile | UpdateFile


def parse(patch: str) -> tuple[FileEdit, ...]:
    """The edits of a patch in their order; a ToolError names the line that makes no sense."""
    return _Reader(patch.replace("\r\n", "\n").strip("\n").split("\n")).edits()


class _Reader:
    """Walks the lines of a patch once."""

    def __init__(self, lines: list[str]) -> None:
        self._lines = lines
        self._at = 0

    def edits(self) -> tuple[FileEdit, ...]:
        self._take("*** Begin Patch")
        edits: list[FileEdit] = []
        while (line := self._peek()) is not None:
            if self._take("*** End Patch") is not None:
                break
            if line.strip():
                edits.append(self._edit(line))
            else:
                self._at += 1
        if not edits:
            raise ToolError("The patch changes nothing: it names no file.")
        return tuple(edits)

    def _edit(self, line: str) -> FileEdit:
        section = _SECTION.match(line)
        if section is None:
            raise self._wrong("expected '*** Update File: path', '*** Add File: path' or '*** Delete File: path'")
        self._at += 1
        verb, path = section.groups()
        if verb == "Add":
            return AddFile(path, self._added())
        return DeleteFile(path) if verb == "Delete" else self._update(path)

    def _added(self) -> str:
        lines: list[str] = []
        while (line := self._peek()) is not None and not line.startswith("*** "):
            if line.startswith("+"):
                lines.append(line[1:] + "\n")
            elif line.strip():
                raise self._wrong("every line of an added file begins with '+'")
            self._at += 1
        return "".join(lines)

    def _update(self, path: str) -> UpdateFile:
        move_to = self._take("*** Move to:") or ""
        hunks: list[Hunk] = []
        while (line := self._peek()) is not None and (line[:4] != "*** " or line.startswith(_LAST)):
            hunks.append(self._hunk())
        hunks = [hunk for hunk in hunks if any(line[0] != " " for line in hunk.lines)]
        if not hunks and not move_to:
            raise self._wrong(f"the update of {path} has no '-' or '+' line")
        return UpdateFile(path, tuple(hunks), move_to)

    def _hunk(self) -> Hunk:
        anchors: list[str] = []
        while (header := self._take("@@")) is not None:
            if anchor := _NUMBERS.sub("", header):
                anchors.append(anchor.removesuffix("@@").strip())
        lines: list[str] = []
        while (line := self._peek()) is not None and not line.startswith(("@@", "*** ")):
            if line and line[0] not in " +-":
                raise self._wrong("every line of a hunk begins with ' ', '-' or '+'")
            lines.append(line)
            self._at += 1
        at_end = self._take(_LAST) is not None
        while lines and not lines[-1]:
            lines.pop()
        return Hunk(tuple(line or " " for line in lines), tuple(anchors), at_end)

    def _peek(self) -> str | None:
        return self._lines[self._at] if self._at < len(self._lines) else None

    def _take(self, marker: str) -> str | None:
        """What stands behind the marker if the line begins with it."""
        line = self._peek()
        if line is None or not line.startswith(marker):
            return None
        self._at += 1
        return line.removeprefix(marker).strip()

    def _wrong(self, what: str) -> ToolError:
        line = self._peek()
        return ToolError(f"Patch line {self._at + 1}: {what}; found {line[:80]!r}." if line else f"Patch: {what}.")
