"""One row for each thing measured, and the table they make."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

HEAD = ("what", "measured", "beside it", "ratio", "bar", "aim", "ok")


class Limit(Struct, frozen=True):
    """The most that a row may be: as a ratio to what stands beside it, as a value, or both."""

    ratio: float | None = None
    value: float | None = None

    def holds(self, value: float, ratio: float | None) -> bool:
        too_many = self.ratio is not None and (ratio is None or ratio > self.ratio)
        return not too_many and (self.value is None or value <= self.value)


class Row(Struct, frozen=True, kw_only=True):
    """Something measured, with the floor from the same run if there is one. A unit of "/s" is better when larger."""

    what: str
    value: float
    unit: str
    floor: float | None = None
    beside: str = ""
    """What the floor is, or what else a reader should know of the value."""
    bar: Limit = Limit()
    aim: Limit = Limit()

    @property
    def ratio(self) -> float | None:
        """How many times as costly as the floor."""
        if not self.floor or not self.value:
            return None
        return self.floor / self.value if self.unit == "/s" else self.value / self.floor

    @property
    def missed(self) -> bool:
        return not self.bar.holds(self.value, self.ratio)

    @property
    def verdict(self) -> str:
        if self.missed:
            return "MISSED"
        if self.aim != Limit() and self.aim.holds(self.value, self.ratio):
            return "yes, aim met"
        return "yes" if self.bar != Limit() else ""

    def cells(self) -> tuple[str, ...]:
        beside = f"{amount(self.floor, self.unit)} {self.beside}" if self.floor is not None else self.beside
        ratio = "" if self.ratio is None else f"{self.ratio:.2f}x"
        limits = [self._limit(limit) for limit in (self.bar, self.aim)]
        return (self.what, amount(self.value, self.unit), beside, ratio, *limits, self.verdict)

    def _limit(self, limit: Limit) -> str:
        parts = [f"{limit.ratio:g}x"] if limit.ratio is not None else []
        parts += [amount(limit.value, self.unit)] if limit.value is not None else []
        return ", ".join(parts)


def amount(value: float, unit: str) -> str:
    """A number with as many digits as a noisy machine deserves."""
    digits = 0 if value == int(value) or abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    gap = "" if unit == "/s" else " "
    return f"{value:,.{digits}f}{gap}{unit}".rstrip()


def render(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table that reads well in a terminal and is Markdown."""
    lines = [tuple(head), *map(tuple, rows)]
    widths = [max(len(cell) for cell in column) for column in zip(*lines, strict=True)]
    drawn = ["| " + " | ".join(map(str.ljust, line, widths)) + " |" for line in lines]
    drawn.insert(1, "|" + "|".join("-" * (width + 2) for width in widths) + "|")
    return "\n".join(drawn)
