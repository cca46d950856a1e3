"""Applying the hunks of a V4A patch to the text of one file."""

from itertools import pairwise

from hermes.protocol.errors import ToolError
from hermes.tools.indentation import fitted
from hermes.tools.matching import LINE_STRATEGIES, nearest_lines
from hermes.tools.patchfile import Hunk

Edit = tuple[int, int, list[str]]


def apply(text: str, hunks: tuple[Hunk, ...], path: str) -> str:
    """The text after all hunks; whether its last line ends in a newline stays as it was."""
    lines = text.removesuffix("\n").split("\n") if text else []
    edits: list[Edit] = []
    below = 0
    for hunk in hunks:
        start = _place(lines, hunk, below, path)
        below = start + len(hunk.old)
        edits.append((start, below, _rewritten(lines[start:below], hunk)))
    edits.sort(key=lambda edit: edit[:2])
    for one, next_one in pairwise(edits):
        if one[1] > next_one[0]:
            raise ToolError(f"{path}: two hunks change line {next_one[0] + 1}; make them one hunk.")
    for start, end, new in reversed(edits):
        lines[start:end] = new
    newline = "\n" if lines and (text.endswith("\n") or not text) else ""
    return "\n".join(lines) + newline


def _place(lines: list[str], hunk: Hunk, below: int, path: str) -> int:
    """The line where a hunk begins: from its last anchor on, else the one place that its old lines fit."""
    for anchor in hunk.anchors:
        below = _anchor(lines, anchor, below, path) + 1
    old = hunk.old
    if not old:
        return below if hunk.anchors and not hunk.at_end else len(lines)
    # Many patches quote the anchor again as their first line.
    first = below - 1 if hunk.anchors else below
    for strategy in LINE_STRATEGIES.values():
        starts = strategy(lines, old)
        later = [start for start in starts if start >= first]
        if hunk.at_end and len(lines) - len(old) in starts:
            return len(lines) - len(old)
        if hunk.anchors and later:
            return later[0]
        if len(later or starts) > 1:
            raise _ambiguous(path, old, later or starts)
        if starts and not hunk.anchors:
            return (later or starts)[0]
    quoted = "\n".join(old)
    near = nearest_lines("\n".join(lines), quoted)
    hint = f"\nThe closest lines are:\n{near}" if near else ""
    raise ToolError(f"{path}: these lines of the patch were not found:\n{quoted}{hint}")


def _ambiguous(path: str, old: list[str], starts: list[int]) -> ToolError:
    found = ", ".join(str(start + 1) for start in starts[:10])
    return ToolError(
        f"{path}: a hunk fits several places (lines {found}); "
        f"add '@@ ' with a line above the right one, or more context. It begins:\n{old[0]}"
    )


def _anchor(lines: list[str], anchor: str, below: int, path: str) -> int:
    looked = [line.strip() for line in lines]
    for fits in (str.__eq__, str.startswith):
        for number in (*range(below, len(looked)), *range(below)):
            if fits(looked[number], anchor):
                return number
    raise ToolError(f"{path}: no line is '{anchor}', which the patch names after '@@'.")


def _rewritten(real: list[str], hunk: Hunk) -> list[str]:
    """The lines of the file with the hunk's edit: kept lines as the file has them, new ones like their neighbours."""
    pairs = list(zip(hunk.old, real, strict=True))
    lines: list[str] = []
    at = 0
    for line in hunk.lines:
        if line[0] == "+":
            lines.append(fitted(line[1:], at - 1, pairs))
            continue
        if line[0] == " ":
            lines.append(real[at])
        at += 1
    return lines
