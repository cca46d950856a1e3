"""The blocks of one conversation laid out in lines. Only the newest are, until somebody scrolls up to older ones."""

from bisect import bisect_right
from itertools import compress, count
from operator import is_not
from typing import TypeVar

from textual.content import Content

from hermes.tui.blocks import Block, View
from hermes.tui.wrapping import BLANK

B = TypeVar("B", bound=Block)
WINDOW = 200
"""Blocks that are laid out while the end is looked at; as many again come when their beginning is reached."""


class Page:
    """Blocks, oldest first; `update` lays out what has changed since."""

    def __init__(self) -> None:
        self.blocks: list[Block] = []
        self.height = 0
        self._start = 0
        self._first = 0
        self._places: dict[int, int] = {}
        self._lines: list[list[Content]] = []
        self._starts: list[int] = []
        self._changed: set[int] = set()
        self._laid_out = False
        self._width = 0
        self._view = View()

    def add(self, block: B) -> B:
        self._places[id(block)] = len(self.blocks)
        self._changed.add(len(self.blocks))
        self.blocks.append(block)
        return block

    def touch(self, block: Block) -> None:
        """The block has other lines now."""
        self._changed.add(self._places[id(block)])

    def start_here(self) -> None:
        """What was added so far is laid out only when somebody wants older blocks."""
        self._start = len(self.blocks)

    @property
    def complete(self) -> bool:
        """Whether the oldest block is laid out."""
        return self._first == 0

    @property
    def behind(self) -> bool:
        """Whether something is still to be laid out."""
        return bool(self._changed)

    def lay_out(self, width: int, view: View) -> None:
        """Make lines of another width or another view."""
        if (width, view) != (self._width, self._view):
            self._width, self._view = width, view
            self._laid_out = False

    def update(self, *, trim: bool = True) -> int:
        """Lay out what is new or changed; returns the first line that is different.

        Of a block that has much new text a portion is laid out, and the page is `behind`. With `trim` the oldest blocks give
        way when there are too many.
        """
        total, first = len(self.blocks), self.height
        if not self._laid_out:
            first = 0
            self._laid_out, self._lines = True, []
            self._first = max(self._start, total - WINDOW) if trim else self._first
            self._changed = set(range(self._first, total))
        if trim and total - self._first > 2 * WINDOW:
            gone = total - WINDOW - self._first
            self._first += gone
            del self._lines[:gone]
            first = 0
        self._lines += [[] for _ in range(total - self._first - len(self._lines))]
        for index in sorted(self._changed):
            place = index - self._first
            if place >= 0:
                before, self._lines[place] = self._lines[place], self._drawn(index)
                if place < len(self._starts):
                    first = min(first, self._starts[place] + _same(before, self._lines[place]))
        self._changed = {index for index in self._changed if index >= self._first and self._is_behind(index)}
        self._count()
        return first

    def load_older(self) -> int:
        """Lay out as many older blocks again; returns the lines that came in front."""
        self._start = 0
        start = max(0, self._first - WINDOW)
        older, self._first = self._first - start, start
        self._lines[:0] = [[] for _ in range(older)]
        for index in range(start, start + older + 1):
            self._lines[index - start] = self._drawn(index)
            while self._is_behind(index):  # whoever reads below must not be moved by what would grow above
                self._lines[index - start] = self._drawn(index)
        before = self.height
        self._count()
        return self.height - before

    def line(self, y: int) -> Content | None:
        found = self._find(y)
        return self._lines[found[0]][found[1]] if found else None

    def block_at(self, y: int) -> Block | None:
        found = self._find(y)
        return self.blocks[self._first + found[0]] if found else None

    def place_of(self, block: Block) -> tuple[int, int]:
        """The first line of a block and the one behind its last, without the empty line before it."""
        index = self._places[id(block)] - self._first
        lines = self._lines[index]
        blank = 1 if lines and not lines[0].plain else 0
        return self._starts[index] + blank, self._starts[index] + len(lines)

    def foldable(self) -> list[Block]:
        """The blocks on the page that can be folded, oldest first."""
        pairs = zip(self.blocks[self._first :], self._lines, strict=False)
        return [block for block, lines in pairs if lines and block.foldable]

    def text(self) -> str:
        """Everything that is laid out, as plain text."""
        return "\n".join(line.plain for lines in self._lines for line in lines)

    def _find(self, y: int) -> tuple[int, int] | None:
        if not 0 <= y < self.height:
            return None
        index = bisect_right(self._starts, y) - 1
        return index, y - self._starts[index]

    def _drawn(self, index: int) -> list[Content]:
        block = self.blocks[index]
        if block.shown(self._view) == "hidden":
            return []
        lines = block.lines(self._width, self._view)
        before = next((n for n in range(index - 1, self._first - 1, -1) if self._lines[n - self._first]), None)
        apart = before is not None and not self._view.compact and (block.gap or self.blocks[before].gap)
        return [BLANK, *lines] if lines and apart else lines

    def _is_behind(self, index: int) -> bool:
        block = self.blocks[index]
        return block.behind and block.shown(self._view) != "hidden"

    def _count(self) -> None:
        at, self._starts = 0, []
        for lines in self._lines:
            self._starts.append(at)
            at += len(lines)
        self.height = at


def _same(before: list[Content], now: list[Content]) -> int:
    """How many lines at the beginning are the very same."""
    return next(compress(count(), map(is_not, before, now)), min(len(before), len(now)))
