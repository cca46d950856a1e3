"""Small plots for a terminal or a chat: bars, a line of blocks for a row of numbers, and days with their amounts.

Plain text without colours: the same in a pipe, in a chat and on a screen.
"""

import math
from collections.abc import Sequence

from msgspec import Struct

from hermes.commands.width import cut, places

EIGHTHS = " ▏▎▍▌▋▊▉█"
HEIGHTS = "▁▂▃▄▅▆▇█"
NARROWEST = 4
"""Places that a bar has at least, however long the words beside it are."""


class Bar(Struct, frozen=True):
    """One bar: what it is for, how long it is, and the number as people read it."""

    label: str
    value: float
    shown: str = ""


def bars(rows: Sequence[Bar], width: int) -> list[str]:
    """One line for each row, at most `width` places: label, bar, number. The longest bar is the largest value."""
    if not rows:
        return []
    numbers = [row.shown or f"{row.value:,.0f}" for row in rows]
    room = max(places(number) for number in numbers)
    labels = min(max(places(row.label) for row in rows), max(NARROWEST, width - room - NARROWEST - 2))
    longest = max(NARROWEST, width - labels - room - 2)
    most = max(row.value for row in rows)
    lines: list[str] = []
    for row, number in zip(rows, numbers, strict=True):
        bar = _bar(row.value / most if most > 0 else 0.0, longest)
        lines.append(f"{_fit(row.label, labels)} {_fit(bar, longest)} {' ' * (room - places(number))}{number}")
    return lines


def spark(values: Sequence[float]) -> str:
    """A row of numbers as a row of blocks; only nothing at all is a space."""
    most = max(values, default=0.0)
    if most <= 0:
        return " " * len(values)
    return "".join(HEIGHTS[math.ceil(value / most * len(HEIGHTS)) - 1] if value > 0 else " " for value in values)


def timeline(days: Sequence[tuple[str, float]], width: int) -> list[str]:
    """Amounts over time as one row of blocks with its first and last day below; neighbours join where there is no room."""
    if not days:
        return []
    values = _joined([value for _, value in days], max(1, width))
    first, last = days[0][0], days[-1][0]
    gap = len(values) - places(first) - places(last)
    below = f"{first}{' ' * gap}{last}" if gap > 0 else f"{first} … {last}" if len(days) > 1 else first
    return [spark(values), below]


def _joined(values: list[float], width: int) -> list[float]:
    """At most so many values, each the sum of as many neighbours as are needed."""
    size = -(-len(values) // width)
    return [sum(values[at : at + size]) for at in range(0, len(values), size)]


def _bar(share: float, length: int) -> str:
    """A bar of whole blocks and one part of a block; what is there at all can be seen."""
    eighths = round(share * length * 8)
    if share > 0:
        eighths = max(1, eighths)
    whole, rest = divmod(eighths, 8)
    return "█" * whole + (EIGHTHS[rest] if rest else "")


def _fit(text: str, width: int) -> str:
    """Exactly so wide: filled with spaces, or cut with an ellipsis."""
    text = cut(text, width)
    return text + " " * (width - places(text))
