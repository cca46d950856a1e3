"""Code as lines in its colours, part by part: of a long block that grows, only the last part is coloured again."""

from collections.abc import Iterable, Iterator
from functools import lru_cache

from msgspec import Struct
from textual.content import Content

from hermes.tui.wrapping import cut

CODE_PART = 100
"""Lines of code that are coloured together."""
PART_LENGTH = 4_000
"""Characters that are, at most."""
LONGEST = 1_000
"""Characters of a line above which it is taken for several."""


class Part(Struct, frozen=True):
    """Lines that are coloured together, and how many characters of the text they stand for."""

    lines: tuple[str, ...]
    length: int


def code(text: str, language: str, width: int) -> list[Content]:
    """A block of code in its colours, on a ground of its own."""
    return [line for part in code_parts(text, width) for line in drawn(part, language, width)]


def code_parts(text: str, width: int) -> Iterator[Part]:
    """The parts of a block of code. Where one ends depends only on what stands before, so all but the last stay."""
    lines: list[str] = []
    length = size = 0
    for line, taken in _lines(text.rstrip("\n"), _room(width)):
        if len(lines) == CODE_PART or (lines and size + len(line) > PART_LENGTH):
            yield Part(tuple(lines), length)
            lines, length, size = [], 0, 0
        lines.append(line)
        length, size = length + taken, size + len(line)
    yield Part(tuple(lines), length)


def drawn(part: Part, language: str, width: int) -> list[Content]:
    room = _room(width)
    coloured = _coloured("\n".join(part.lines).expandtabs(4), language)
    return list(_grounded(coloured.split("\n", allow_blank=True), room))


def _lines(text: str, room: int) -> Iterator[tuple[str, int]]:
    """The lines of a text with what they take of it; a very long one in pieces that fill whole lines of the screen."""
    most = max(room, LONGEST // room * room)
    for line in text.split("\n"):
        *firsts, last = range(0, max(1, len(line)), most)
        yield from ((line[at : at + most], most) for at in firsts)
        yield line[last:], len(line) - last + 1


def _grounded(lines: Iterable[Content], room: int) -> Iterator[Content]:
    for line in lines:
        for piece in line.fold(room):
            rest = " " * (room - min(piece.cell_length, room) + 1)
            yield (Content(" ") + cut(piece, room) + rest).stylize_before("on $surface")


def _room(width: int) -> int:
    return max(width - 2, 1)


@lru_cache(maxsize=64)
def _coloured(text: str, language: str) -> Content:
    if not language:
        return Content(text)
    from textual.highlight import highlight  # brings the lexers

    return highlight(text, language=language)
