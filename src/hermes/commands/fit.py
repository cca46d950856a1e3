"""How well a name fits what somebody has typed of it: by its beginning, a word in it, a part, or its letters in order."""

import re
from collections.abc import Callable, Iterable
from typing import TypeVar

T = TypeVar("T")
_word_ends = re.compile(r"[\s/._:-]+")


def fit(typed: str, name: str) -> tuple[int, int, str] | None:
    """What to sort by, the best fit first; None if it does not fit."""
    wanted, there = typed.lower(), name.lower()
    if there.startswith(wanted):
        return 0, len(there), there
    if any(word.startswith(wanted) for word in _word_ends.split(there)):
        return 1, len(there), there
    if (at := there.find(wanted)) >= 0:
        return 2, at, there
    spread = _spread(wanted, there)
    return (3, spread, there) if spread else None


def ranked(typed: str, things: Iterable[T], name: Callable[[T], str], most: int) -> list[T]:
    """The things whose names fit, the best first; all of them in their order if nothing is typed yet."""
    if not typed:
        return [thing for thing, _ in zip(things, range(most), strict=False)]
    scored = [(score, thing) for thing in things if (score := fit(typed, name(thing)))]
    scored.sort(key=lambda pair: pair[0])
    return [thing for _, thing in scored[:most]]


def _spread(wanted: str, there: str) -> int:
    """Over how many characters the letters that are wanted spread, in their order; 0 if they are not all there."""
    first = at = there.find(wanted[:1])
    for letter in wanted[1:]:
        if at < 0:
            return 0
        at = there.find(letter, at + 1)
    return at - first + 1 if at >= 0 else 0
