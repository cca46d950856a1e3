"""A report as a PNG picture: panels of bars below each other, drawn with nothing but the standard library."""

import struct
import zlib
from collections.abc import Sequence

from msgspec import Struct

from hermes.cli.glyphs import WIDTH, dots
from hermes.commands.plots import Bar

Colour = tuple[int, int, int]
PAPER, INK, FAINT, FIRST, SECOND = range(5)
PALETTE: tuple[Colour, ...] = ((255, 255, 255), (32, 33, 36), (218, 220, 224), (26, 115, 232), (249, 171, 0))
ACROSS = 900
MARGIN, LINE, SCALE = 24, 22, 2
LABEL, NUMBER = 300, 130
COLUMNS = 110
"""Heights and widths in pixels."""


class Panel(Struct, frozen=True):
    """A title and its bars: side by side if they are `upright` (days), else below each other."""

    title: str
    bars: tuple[Bar, ...]
    upright: bool = False

    @property
    def height(self) -> int:
        return 2 * LINE + (COLUMNS + LINE if self.upright else LINE * max(1, len(self.bars)))


class Canvas:
    """Pixels by number of their colour."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self._rows = [bytearray(width) for _ in range(height)]

    def fill(self, left: int, top: int, width: int, height: int, colour: int) -> None:
        """A rectangle; what lies outside is not drawn."""
        left, right = max(0, left), min(self.width, left + width)
        for row in self._rows[max(0, top) : max(0, top + height)]:
            row[left:right] = bytes([colour]) * max(0, right - left)

    def write(self, left: int, top: int, text: str, colour: int = INK, scale: int = SCALE) -> None:
        for column, row in dots(text):
            self.fill(left + column * scale, top + row * scale, scale, scale, colour)

    def png(self) -> bytes:
        head = struct.pack(">IIBBBBB", self.width, self.height, 8, 3, 0, 0, 0)
        pixels = zlib.compress(b"".join(b"\0" + row for row in self._rows), 9)
        chunks = (b"IHDR", head), (b"PLTE", bytes(sum(PALETTE, ()))), (b"IDAT", pixels), (b"IEND", b"")
        return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(kind, data) for kind, data in chunks)


def draw(title: str, panels: Sequence[Panel]) -> bytes:
    """The picture as the bytes of a PNG file."""
    canvas = Canvas(ACROSS, 2 * MARGIN + 2 * LINE + sum(panel.height for panel in panels))
    canvas.write(MARGIN, MARGIN, title, scale=3)
    top = MARGIN + 2 * LINE
    for panel in panels:
        canvas.fill(MARGIN, top - 6, ACROSS - 2 * MARGIN, 1, FAINT)
        canvas.write(MARGIN, top, panel.title)
        (_columns if panel.upright else _rows)(canvas, top + LINE, panel.bars)
        top += panel.height
    return canvas.png()


def _rows(canvas: Canvas, top: int, bars: Sequence[Bar]) -> None:
    most = max((bar.value for bar in bars), default=0.0)
    room = ACROSS - 2 * MARGIN - LABEL - NUMBER
    for number, bar in enumerate(bars):
        at = top + number * LINE
        canvas.write(MARGIN, at, _cut(bar.label, LABEL))
        length = round(room * bar.value / most) if most > 0 else 0
        canvas.fill(MARGIN + LABEL, at - 2, max(length, 1 if bar.value > 0 else 0), LINE - 8, FIRST)
        canvas.write(MARGIN + LABEL + room + 12, at, _cut(bar.shown or f"{bar.value:,.0f}", NUMBER))


def _columns(canvas: Canvas, top: int, bars: Sequence[Bar]) -> None:
    if not bars:
        return
    most = max(bar.value for bar in bars)
    step = (ACROSS - 2 * MARGIN) / len(bars)
    for number, bar in enumerate(bars):
        height = round(COLUMNS * bar.value / most) if most > 0 else 0
        left, right = MARGIN + round(step * number), MARGIN + round(step * (number + 1))
        canvas.fill(left, top + COLUMNS - height, max(1, right - left - 2), height, SECOND)
    canvas.fill(MARGIN, top + COLUMNS, ACROSS - 2 * MARGIN, 1, INK)
    below = top + COLUMNS + 6
    canvas.write(MARGIN, below, bars[0].label)
    last = bars[-1].label if len(bars) > 1 else ""
    canvas.write(ACROSS - MARGIN - len(last) * (WIDTH + 1) * SCALE, below, last)
    canvas.write(ACROSS // 2 - 60, below, f"most: {most:,.0f}")


def _cut(text: str, width: int) -> str:
    """As many letters as fit into so many pixels."""
    letters = (width - 8) // ((WIDTH + 1) * SCALE)
    return text if len(text) <= letters else text[: letters - 2] + ".."


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
