"""A table of Markdown in columns that fit the width."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from textual.content import Content

from hermes.tui.inline import inline
from hermes.tui.wrapping import styled

if TYPE_CHECKING:
    from markdown_it.token import Token

GAP = " │ "
NARROWEST = 4


def table(tokens: "Sequence[Token]", width: int, before: Sequence[int] = ()) -> list[Content]:
    """The lines of a table, or of a part that goes on below one with the columns `before`, without a head of its own."""
    head, *body = _rows(tokens)
    widths = columns(tokens, width, before)
    sides = [*_sides(tokens), *["left"] * len(widths)][: len(widths)]
    lines: list[Content] = []
    if not before:
        rule = styled("─┼─".join("─" * one for one in widths), "$hermes-dim")
        lines = [*_drawn([cell.stylize_before("bold") for cell in head], widths, sides), rule]
    for row in body:
        lines += _drawn(row, widths, sides)
    return lines


def columns(tokens: "Sequence[Token]", width: int, before: Sequence[int] = ()) -> list[int]:
    """How wide the columns of a table are; those of a part are no narrower than `before`, if there is room."""
    rows = _rows(tokens)
    wanted = [max(cell.cell_length for cell in column) for column in zip(*rows, strict=True)]
    return _widths([max(pair) for pair in zip(wanted, before or wanted, strict=True)], width)


def _rows(tokens: "Sequence[Token]") -> list[list[Content]]:
    rows: list[list[Content]] = []
    for token in tokens:
        if token.type == "tr_open":
            rows.append([])
        elif token.type == "inline":
            rows[-1].append(inline(token))
    return rows


def _sides(tokens: "Sequence[Token]") -> list[str]:
    """To which side each column is pushed: its head carries it as a style."""
    heads = [str(token.attrs.get("style", "")) for token in tokens if token.type == "th_open"]
    return [head.removeprefix("text-align:") or "left" for head in heads]


def _widths(wanted: list[int], width: int) -> list[int]:
    """The widest columns give way until all of them fit."""
    widths = [max(1, one) for one in wanted]
    room = width - len(GAP) * (len(widths) - 1)
    while sum(widths) > room and max(widths) > NARROWEST:
        widths[widths.index(max(widths))] -= 1
    return widths


def _drawn(row: list[Content], widths: Sequence[int], sides: list[str]) -> list[Content]:
    cells = [cell.wrap(width) for cell, width in zip(row, widths, strict=True)]
    lines: list[Content] = []
    for number in range(max(map(len, cells))):
        parts = [cell[number] if number < len(cell) else Content("") for cell in cells]
        padded = [_padded(*one) for one in zip(parts, widths, sides, strict=True)]
        lines.append(styled(GAP, "$hermes-dim").join(padded))
    return lines


def _padded(cell: Content, width: int, side: str) -> Content:
    free = width - cell.cell_length
    before = {"right": free, "center": free // 2}.get(side, 0)
    return Content(" " * before) + cell + " " * (free - before)
