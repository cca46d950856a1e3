"""The search itself: what is not indexed yet is caught up with, then the sessions are found that answer best."""

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Literal

from msgspec import Struct

from hermes.learning.recall.normalise import terms
from hermes.learning.recall.passages import index, text_for_index
from hermes.learning.recall.query import Query, parse
from hermes.learning.recall.ranking import Hit, fuse, sort_by_time
from hermes.protocol.errors import StoreError
from hermes.protocol.items import Item, Reply, ToolCall, UserMessage
from hermes.protocol.recall import Found, PassageKind, Said, Terms, TextIndex

log = logging.getLogger(__name__)
Role = Literal["user", "assistant", "tool"]
Order = Literal["", "newest", "oldest"]
DEPTH = 100
"""Passages that each ranking gives."""
READ = 16
"""Windows that are read to see what stands in one message; all of them where a phrase, a -word or a role is looked for."""


class Wanted(Struct, frozen=True, kw_only=True):
    """A question, and what is asked of the answers. Times are seconds since 1970, 0 for any; `but` is the session that asks,
    which need not be told what it said itself."""

    text: str
    limit: int = 5
    roles: tuple[Role, ...] = ()
    order: Order = ""
    since: float = 0.0
    until: float = 0.0
    but: str = ""


class Match(Struct, frozen=True):
    """A session that answers, the message in it that does so best, and the terms that it was found by."""

    hit: Hit
    best: Said
    weights: dict[str, float]


class Search:
    """Over one index. It holds nothing but that: what one process finds, another finds too."""

    def __init__(self, index: TextIndex) -> None:
        self.index = index

    async def catch_up(
        self, *, but: str = "", seconds: float = float("inf"), tell: Callable[[int], None] = lambda count: None
    ) -> bool:
        """Bring everything into the index that was said until now, in steps that others can write between; False if the time
        was not enough, or nothing can be written: what is in the index can be found all the same."""
        end = time.monotonic() + seconds
        waiting = await self.index.behind(but)
        done = 0
        while waiting:
            unread = await self.index.unread(but)
            # Sessions that go on talking meanwhile would never let it end; a deleted one is not in the list any more.
            if not any(each.session in waiting for each in unread):
                return not unread
            if time.monotonic() > end:
                return False
            pieces = await asyncio.to_thread(lambda unread=unread: [index(each) for each in unread])
            try:
                await self.index.put(pieces)
            except StoreError as error:
                log.warning("the index of what was said is not up to date: %s", error)
                return False
            reached = {each.session: each.seq for each in unread}
            waiting = {name: seq for name, seq in waiting.items() if reached.get(name, -1) < seq}
            done += sum(len(each.said) for each in unread)
            tell(done)
        return True

    async def find(self, wanted: Wanted) -> list[Match]:
        """The sessions that answer, the best first; each lineage once."""
        query = parse(wanted.text)
        if not query.any:
            return []
        (ranked, weights), (chapters, _) = await asyncio.gather(
            self._rank("window", query, wanted), self._rank("chapter", query, wanted)
        )
        strict = query.strict or bool(wanted.roles)
        windows = await self._read(ranked, query, wanted, weights, DEPTH if strict else READ)
        hits = fuse(windows, []) if strict else fuse([*windows, *ranked], chapters)
        if wanted.order and hits:
            hits = sort_by_time(hits, newest=wanted.order == "newest")
        return await self._matches(hits[: wanted.limit], weights, wanted.roles)

    async def _rank(self, kind: PassageKind, query: Query, wanted: Wanted) -> tuple[list[Found], dict[str, float]]:
        asked = Terms(any=query.any, every=query.every, since=wanted.since, until=wanted.until)
        ranked = await self.index.rank(kind, asked, DEPTH)
        return [found for found in ranked.found if found.session != wanted.but], ranked.weights

    async def _read(
        self, ranked: list[Found], query: Query, wanted: Wanted, weights: dict[str, float], most: int
    ) -> list[Found]:
        """The first windows of a ranking that have what was asked for strictly, in messages of the wanted roles; those first
        that have most of the question in one message."""
        ranked = ranked[:most]
        scored: list[tuple[float, Found]] = []
        for found, said in zip(ranked, await self.index.said([_place(each) for each in ranked]), strict=True):
            items = [each.item for each in said if has_role(each.item, wanted.roles)]
            best = max((_worth(item, weights) for item in items), default=0.0)
            if best and (not query.strict or query.fits([text_for_index(item) for item in items])):
                scored.append((found.score + best, found))
        return [found for _, found in sorted(scored, key=lambda each: -each[0])]

    async def _matches(self, hits: list[Hit], weights: dict[str, float], roles: tuple[Role, ...]) -> list[Match]:
        matches: list[Match] = []
        for hit, said in zip(hits, await self.index.said([_place(hit) for hit in hits]), strict=True):
            there = [each for each in said if has_role(each.item, roles) and text_for_index(each.item)]
            if there:
                best = max(there, key=lambda each: (_worth(each.item, weights), -each.seq))
                matches.append(Match(hit, best, weights))
        return matches


def _place(found: Found | Hit) -> tuple[str, int, int]:
    return found.session, found.first, found.last


def has_role(item: Item, roles: tuple[Role, ...]) -> bool:
    return not roles or role_of(item) in roles


def role_of(item: Item) -> Role:
    match item:
        case UserMessage():
            return "user"
        case ToolCall():
            return "tool"
        case _:
            return "assistant"


def _worth(item: Item, weights: dict[str, float]) -> float:
    """What an item has of the question; a result less than what was said about it."""
    worth = sum(weights.get(term, 0.0) for term in set(terms(text_for_index(item))))
    return worth if isinstance(item, UserMessage | Reply) else worth / 2
