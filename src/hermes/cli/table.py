"""Rows as a table: aligned and cut to the width of a terminal, whole and with tabs between in a pipe."""

import os
from collections.abc import Sequence
from typing import TextIO

from msgspec import Struct

from hermes.commands.width import cut, places

GAP = "  "
NARROWEST = 8
"""A column is never cut below this many places, however small the terminal."""


class Column(Struct, frozen=True):
    """One column; numbers stand `right`, and what `shrinks` is cut where there is no room."""

    title: str
    right: bool = False
    shrinks: bool = False


Rows = Sequence[Sequence[str]]


def print_table(columns: Sequence[Column], rows: Rows, out: TextIO) -> None:
    """A table with a head for people; for programs one line a row, tabs between, nothing cut and no head."""
    if out.isatty():
        lines = draw(columns, rows, screen_width(out))
    else:
        lines = ["\t".join(one_line(cell) for cell in row) for row in rows]
    for line in lines:
        print(line, file=out)


def screen_width(out: TextIO) -> int:
    """Places in a line of a terminal; a pipe has room for a little more."""
    return (os.get_terminal_size(out.fileno()).columns or 80) if out.isatty() else 120


def draw(columns: Sequence[Column], rows: Rows, width: int) -> list[str]:
    """The lines of a table that is at most `width` places wide, as far as its columns can shrink."""
    table = [[column.title for column in columns], *([one_line(cell) for cell in row] for row in rows)]
    widths = [max(places(row[n]) for row in table) for n in range(len(columns))]
    can_shrink = [n for n, column in enumerate(columns) if column.shrinks]
    while sum(widths) + len(GAP) * (len(widths) - 1) > width:
        widest = max(can_shrink, key=widths.__getitem__, default=None)
        if widest is None or widths[widest] <= NARROWEST:
            break
        widths[widest] -= 1
    return [GAP.join(map(_fit, row, widths, columns)).rstrip() for row in table]


def one_line(text: str) -> str:
    """Text that can do no harm on a screen: what is not printable becomes a space."""
    return "".join(char if char.isprintable() else " " for char in text)


def _fit(text: str, width: int, column: Column) -> str:
    text = cut(text, width)
    filling = " " * (width - places(text))
    return filling + text if column.right else text + filling
