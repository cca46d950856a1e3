"""A picture that is drawn dot by dot is a PNG that any reader takes, with bars as long as they should be."""

import struct
import zlib

from hermes.cli.chart import ACROSS, FIRST, INK, LABEL, MARGIN, NUMBER, PAPER, SECOND, Canvas, Panel, draw
from hermes.cli.glyphs import GLYPHS, dots
from hermes.commands.plots import Bar


def read(picture: bytes) -> list[bytes]:
    """The rows of a PNG, each chunk checked."""
    assert picture[:8] == b"\x89PNG\r\n\x1a\n"
    at, chunks = 8, {}
    while at < len(picture):
        size, kind = struct.unpack(">I4s", picture[at : at + 8])
        data = picture[at + 8 : at + 8 + size]
        assert struct.unpack(">I", picture[at + 8 + size : at + 12 + size])[0] == zlib.crc32(kind + data)
        chunks[kind] = data
        at += 12 + size
    width, height, *rest = struct.unpack(">IIBBBBB", chunks[b"IHDR"])
    assert rest == [8, 3, 0, 0, 0]
    raw = zlib.decompress(chunks[b"IDAT"])
    rows = [raw[n * (width + 1) : (n + 1) * (width + 1)] for n in range(height)]
    assert {row[0] for row in rows} == {0} and len(raw) == height * (width + 1)
    assert max(max(row) for row in rows) < len(chunks[b"PLTE"]) // 3
    return [row[1:] for row in rows]


def test_bars_below_each_other_are_as_long_as_their_values():
    rows = read(draw("title", [Panel("saved", (Bar("a", 100), Bar("b", 50), Bar("c", 0)))]))
    lengths = sorted({row.count(FIRST) for row in rows if FIRST in row})
    room = ACROSS - 2 * MARGIN - LABEL - NUMBER
    assert lengths == [room // 2, room]


def test_bars_side_by_side_are_as_high_as_their_values():
    rows = read(draw("title", [Panel("a day", (Bar("monday", 4), Bar("tuesday", 1)), upright=True)]))
    heights = [sum(row[at] == SECOND for row in rows) for at in (MARGIN + 5, ACROSS // 2 + 5)]
    assert heights == [110, 28]


def test_a_panel_of_nothing_and_of_zeros_is_drawn():
    rows = read(draw("nothing", [Panel("none", ()), Panel("zeros", (Bar("a", 0),)), Panel("days", (), upright=True)]))
    assert {value for row in rows for value in row} >= {PAPER, INK}
    assert not any(FIRST in row or SECOND in row for row in rows)


def test_what_is_drawn_over_the_edge_is_cut():
    canvas = Canvas(4, 4)
    canvas.fill(-2, -2, 4, 4, INK)
    canvas.fill(3, 3, 9, 9, FIRST)
    assert read(canvas.png()) == [bytes(row) for row in ([1, 1, 0, 0], [1, 1, 0, 0], [0] * 4, [0, 0, 0, FIRST])]


def test_no_two_letters_look_alike():
    assert len(set(GLYPHS.values())) == len(GLYPHS)
    assert dots("a") == dots("A") and dots("界") == [(column, row) for row in range(5) for column in range(3)]
