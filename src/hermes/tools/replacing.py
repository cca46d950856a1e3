"""Putting new text where a quote stands, and saying so clearly when it cannot be done."""

import re

from msgspec import Struct

from hermes.protocol.errors import ToolError
from hermes.tools.indentation import fitted
from hermes.tools.matching import Span, find, line_at, nearest_lines, unescaped

GUESSES = ("by its first and last line", "by likeness")
_NUMBERED = re.compile(r"\d+\|")


class Replaced(Struct, frozen=True):
    """The new text, how often the quote was replaced, and how it was found."""

    text: str
    count: int
    strategy: str


def replace(text: str, old: str, new: str, *, every: bool = False) -> Replaced:
    """Replace `old`, which must stand in `text` once unless `every` is set."""
    if not old:
        raise ToolError("old_string is empty; quote the text to replace, or use write_file for a whole file.")
    if old == new:
        raise ToolError("old_string and new_string are the same: nothing to change.")
    found = find(text, old)
    if found is None:
        raise ToolError(_not_found(text, old, new))
    if len(found.spans) > 1 and (not every or found.strategy in GUESSES):
        lines = ", ".join(str(line_at(text, start)) for start, _ in found.spans[:10])
        raise ToolError(
            f"old_string fits {len(found.spans)} places (lines {lines}); "
            "quote more surrounding lines to make it unique, or set replace_all."
        )
    spans = _apart(found.spans)
    if found.strategy == "unescaped":
        new = unescaped(new)
    for start, end in reversed(spans):
        piece = text[start:end]
        fitted = new if found.strategy in ("exact", "unescaped") else merged(piece, old, new)
        text = text[:start] + fitted + text[end:]
    return Replaced(text, len(spans), found.strategy)


def merged(piece: str, old: str, new: str) -> str:
    """The edit from `old` to `new` done to `piece`: lines that the edit leaves alone stay as the file has them."""
    from difflib import SequenceMatcher

    if old.endswith("\n") and not piece.endswith("\n"):
        old, new = old.removesuffix("\n"), new.removesuffix("\n")
    real, quoted, wanted = piece.split("\n"), old.split("\n"), new.split("\n")
    pairs = list(zip(quoted, real, strict=False))
    if len(real) != len(quoted):
        return "\n".join(fitted(line, 0, pairs[:1]) for line in wanted)
    lines: list[str] = []
    for kind, a, b, c, d in SequenceMatcher(None, quoted, wanted, autojunk=False).get_opcodes():
        if kind == "equal":
            lines += real[a:b]
        else:
            lines += [fitted(line, min(a + n, max(a, b - 1)), pairs) for n, line in enumerate(wanted[c:d])]
    return "\n".join(lines)


def numbered(text: str) -> bool:
    """Whether every line begins with the number that read_file puts there."""
    lines = text.rstrip("\n").split("\n")
    found = [_NUMBERED.match(line) for line in lines]
    numbers = [int(match[0][:-1]) for match in found if match]
    return len(numbers) == len(lines) and numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def _apart(spans: tuple[Span, ...]) -> list[Span]:
    """Those that do not overlap one before them."""
    apart: list[Span] = []
    for span in spans:
        if not apart or span[0] >= apart[-1][1]:
            apart.append(span)
    return apart


def _not_found(text: str, old: str, new: str) -> str:
    if numbered(old):
        return "old_string was not found: leave out the line numbers that read_file puts before each line."
    if len(new) > 20 and new in text:
        at = line_at(text, text.index(new))
        return f"old_string was not found, and new_string already stands at line {at}: it may be done."
    if near := nearest_lines(text, old):
        return f"old_string was not found. The closest lines are:\n{near}\nRead the file again and quote it exactly."
    return "old_string was not found, nor anything like it. Read the file again and quote it exactly."
