"""Which sessions answer a question best: two rankings become one, and sessions that come from each other count once."""

from collections.abc import Iterable, Sequence

from msgspec import Struct

from hermes.protocol.recall import Found

K = 20
"""The constant of reciprocal rank fusion: how fast a place further down loses its worth."""
CRON = 0.5
"""Sessions that nobody sat at count half."""


class Hit(Struct, frozen=True):
    """A session, or the best of several that descend from the same one, and where in it."""

    session: str
    root: str
    first: int
    last: int
    at: float
    score: float


def fuse(windows: Sequence[Found], chapters: Sequence[Found]) -> list[Hit]:
    """The hits, the best first. Where a window was found it is the place; else the beginning of the chapter."""
    scores: dict[str, float] = {}
    for ranking in (windows, chapters):
        for place, found in enumerate(_first_of_each(ranking), 1):
            scores[found.root] = scores.get(found.root, 0.0) + 1 / (K + place)
    hits = {
        found.root: Hit(
            found.session,
            found.root,
            found.first,
            found.last,
            found.at,
            scores[found.root] * (CRON if found.source == "cron" else 1),
        )
        for found in (*reversed(_first_of_each(chapters)), *reversed(_first_of_each(windows)))
    }
    return sorted(hits.values(), key=lambda hit: (-hit.score, -hit.at, hit.session))


def sort_by_time(hits: list[Hit], *, newest: bool) -> list[Hit]:
    """Those at least half as good as the best, in the order of time, before the others."""
    good = [hit for hit in hits if hit.score * 2 >= hits[0].score]
    return [*sorted(good, key=lambda hit: hit.at, reverse=newest), *hits[len(good) :]]


def _first_of_each(ranking: Iterable[Found]) -> list[Found]:
    best: dict[str, Found] = {}
    for found in ranking:
        best.setdefault(found.root, found)
    return list(best.values())
