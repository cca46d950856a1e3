"""A long paragraph in pieces: what is finished is never wrapped again, however long the rest of it becomes.

Where it is cut depends only on the text before the cut. So a text that grows has the same lines as one that came at once.
"""

import re

from textual.content import Content

from hermes.tui.wrapping import NARROWEST, styled, wrap

PIECE = 1_000
"""Characters after which a piece may end."""
PLACES = 8
"""Places in the second thousand that are looked at, before a piece ends where it must."""
PORTION, PORTION_LINES = 2_000, 100
"""Characters and lines of a text that one drawing takes in: some ten milliseconds of work, whatever they hold."""
_gap = re.compile(r"(?<=[^\s\\])\s(?=\S)")
_code = re.compile(r"(`+)[^`]+\1")
_mark = re.compile(r"\*+|~~|(?<![^\W_])_+|_+(?![^\W_])")


def next_cut(text: str) -> int:
    """Where the first piece of a long text ends; 0 if it is short, or its end is not there yet.

    It ends between two words, outside of bold text, code and links, if there is such a place.
    """
    if len(text) < PIECE:
        return 0
    for place in range(PIECE, 2 * PIECE, PIECE // PLACES):
        found = _gap.search(text, place, min(len(text), place + PIECE // PLACES + 1))
        if found and _is_closed(text[: found.start()]):
            return found.start()
    if len(text) <= 3 * PIECE:
        return 0
    found = _gap.search(text, 2 * PIECE, 3 * PIECE)
    return found.start() if found else 3 * PIECE


def next_portion(text: str, start: int) -> int:
    """Where the portion that begins at `start` ends: behind a whole line, if there is one and more follows."""
    end = min(len(text), start + PORTION)
    at = start
    for _ in range(PORTION_LINES):
        found = text.find("\n", at, end)
        if found < 0:
            return at if start < at and end < len(text) else end
        at = found + 1
    return at


def _is_closed(text: str) -> bool:
    """Whether every mark in a text seems to have its other half."""
    plain = _code.sub("", text)
    if "`" in plain or plain.count("[") != plain.count("]") or plain.count("<") != plain.count(">"):
        return False
    return len(_mark.findall(plain)) % 2 == 0


class Flow:
    """Words that come piece by piece, in lines; the last line is open, for the next piece goes on with it."""

    def __init__(self, width: int) -> None:
        self._width = width
        self._open = Content("")

    def add(self, piece: Content) -> list[Content]:
        """The lines that are finished with another piece."""
        *finished, self._open = self.with_rest(piece)
        return finished

    def with_rest(self, rest: Content) -> list[Content]:
        """The open line and what follows it, for now."""
        return wrap(self._open + rest, self._width)


class FlowingText:
    """A plain text in one style that may grow, and its lines at the width that was last asked for, each behind `before`."""

    def __init__(self, style: str, before: Content) -> None:
        self._style, self._before = style, before
        self._begin(0)

    def _begin(self, width: int) -> None:
        self._width, self._flow = width, Flow(max(NARROWEST, width - self._before.cell_length))
        self._drawn, self._settled = "", 0
        self._lines: list[Content] = []

    def lines(self, text: str, width: int) -> list[Content]:
        if width != self._width or not text.startswith(self._drawn):
            self._begin(width)
        self._drawn, rest = text, text[self._settled :]
        while cut := next_cut(rest):
            self._lines += self._behind(self._flow.add(styled(rest[:cut], self._style)))
            self._settled, rest = self._settled + cut, rest[cut:]
        return [*self._lines, *self._behind(self._flow.with_rest(styled(rest, self._style)))]

    def _behind(self, lines: list[Content]) -> list[Content]:
        return [self._before + line for line in lines]
