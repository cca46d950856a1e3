"""The full-text index: which passages of which sessions have a term.

Two contentless FTS5 tables without positions, for windows of a few messages and for chapters of a session; their texts are
terms that were made by whoever fills them. FTS5's own bm25 is 0 without positions (SQLite 3.54), so the lists of passages
are weighed here: a term counts for a passage as much as it is rare, less in a long one, and more in a chapter that has it twice.
"""

import math
from collections import Counter, defaultdict
from collections.abc import Sequence
from heapq import nlargest
from typing import Any

import apsw
import msgspec

from hermes.protocol.events import ItemDone
from hermes.protocol.recall import Around, Found, Indexed, Passage, PassageKind, Ranked, Said, Terms, Unread
from hermes.protocol.wire import decode_body
from hermes.store.lane import Lane
from hermes.store.rows import COLUMNS, SEQ_BITS, fetch, session_row
from hermes.store.text_tables import KINDS

HIDDEN = ("subagent", "tool")
"""Sources of sessions that nobody searches; they are not in the index at all."""
PIECE = 400
"""Messages and calls that are read, and then written, at a time: the database is held for some 40 ms."""
ENTRIES = 5_000
"""Entries of the index that one ranking reads: those of rare terms first, and of common ones as many as there is room for."""
CANDIDATES = 120
SATURATION, LENGTH = 1.2, 0.5
"""The usual two constants of BM25. A word counts hardly more than once here, so length matters less than in the textbook."""
AGAIN, WORTH = "\u00b2", 0.15
"""Tables without positions cannot count: a term that a chapter has twice is in the table once more, with this mark, and worth
so much more."""

ITEM = '{"event":"item_done","item":{"type":"'


class SqliteTextIndex:
    """Implements protocol.recall.TextIndex beside the store's other tables."""

    def __init__(self, writer: Lane, reader: Lane) -> None:
        self._writer = writer
        self._reader = reader

    async def unread(self, but: str = "") -> list[Unread]:
        return await self._reader.read(lambda db: _unread(db, but))

    async def put(self, pieces: Sequence[Indexed]) -> None:
        await self._writer.write(lambda db: [_put(db, piece) for piece in pieces])

    async def behind(self, but: str = "") -> dict[str, int]:
        found = await self._reader.read(lambda db: fetch(db, f"SELECT sessions.id, sessions.seq {_BEHIND}", (but,)))
        return {str(name): int(seq) for name, seq in found}

    async def rank(self, kind: PassageKind, terms: Terms, limit: int) -> Ranked:
        return await self._reader.read(lambda db: _rank(db, kind, terms, limit))

    async def said(self, places: Sequence[tuple[str, int, int]]) -> list[list[Said]]:
        def read(db: apsw.Connection) -> list[list[Said]]:
            return [_said(db, _number(db, session), first, last) for session, first, last in places]

        return await self._reader.read(read)

    async def around(self, places: Sequence[tuple[str, int]], beside: int) -> list[Around]:
        def read(db: apsw.Connection) -> list[Around]:
            return [around for place in places for around in _around(db, *place, beside)]

        return await self._reader.read(read)

    async def clear(self) -> None:
        def write(db: apsw.Connection) -> None:
            for kind in KINDS:
                db.execute(f"INSERT INTO {kind}_text({kind}_text) VALUES('delete-all')")
                db.execute(f"DELETE FROM {kind}")
            db.execute("DELETE FROM indexed")

        await self._writer.write(write)


# Filling

_BEHIND = (
    "FROM sessions LEFT JOIN indexed ON indexed.session = n WHERE source NOT IN ('"
    + "', '".join(HIDDEN)
    + "') AND sessions.id != ? AND (indexed.seq IS NULL OR indexed.seq < sessions.seq "
    "OR indexed.title != coalesce(sessions.title, ''))"
)


def _unread(db: apsw.Connection, but: str) -> list[Unread]:
    columns = (
        "n, id, coalesce(sessions.title, ''), coalesce(indexed.title, ''), sessions.seq, coalesce(indexed.seq, 0), "
        "coalesce(untrusted, 0)"
    )
    found: list[Unread] = []
    room = PIECE
    for row in fetch(db, f"SELECT {columns} {_BEHIND} ORDER BY active DESC, n DESC LIMIT ?", (but, PIECE // 4)):
        found.append(_unread_of(db, row, room))
        room -= len(found[-1].said)
        if room <= 0:
            break
    return found


def _unread_of(db: apsw.Connection, row: tuple[Any, ...], room: int) -> Unread:
    n, name, title, known, newest, was, untrusted = row
    starts = {kind: fetch(db, f"SELECT max(first) FROM {kind} WHERE session = ?", (n,))[0][0] or 0 for kind in KINDS}
    said = _said(db, n, was + 1, newest, room)
    seq = said[-1].seq if len(said) == room else newest
    if said or title != known:
        said = [*_said(db, n, min(starts.values()), was), *said]
    return Unread(
        session=name,
        title=title,
        was=was,
        seq=seq,
        window=starts["window"],
        chapter=starts["chapter"],
        untrusted=untrusted or next((each.seq for each in said if each.item.trust == "untrusted"), 0),
        said=tuple(said),
    )


def _put(db: apsw.Connection, piece: Indexed) -> None:
    query = "SELECT n, coalesce(indexed.seq, 0) FROM sessions LEFT JOIN indexed ON indexed.session = n WHERE id = ?"
    found = fetch(db, query, (piece.session,))
    if not found or found[0][1] != piece.was:
        return  # it was deleted meanwhile, or another process has done the same work
    n = found[0][0]
    for kind, passages in (("window", piece.windows), ("chapter", piece.chapters)):
        if passages:
            stale = f"SELECT id FROM {kind} WHERE session = ? AND first >= ?"
            values = (n, passages[0].first)
            db.execute(f"DELETE FROM {kind}_text WHERE rowid IN ({stale})", values)
            db.execute(f"DELETE FROM {kind} WHERE session = ? AND first >= ?", values)
            _insert(db, kind, n, passages)
    db.execute("INSERT OR REPLACE INTO indexed VALUES (?, ?, ?, ?)", (n, piece.seq, piece.title, piece.untrusted))


def _insert(db: apsw.Connection, kind: str, n: int, passages: Sequence[Passage]) -> None:
    for passage in passages:
        terms = passage.terms.split(" ")
        single = dict.fromkeys(terms)
        again = Counter(terms) if len(single) < len(terms) else {}
        marked = " ".join([*single, *(term + AGAIN for term, times in again.items() if times > 1)])
        values = (n, passage.first, passage.last, int(passage.at), len(single))
        db.execute(f"INSERT INTO {kind}(session, first, last, at, terms) VALUES (?, ?, ?, ?, ?)", values)
        db.execute(f"INSERT INTO {kind}_text(rowid, terms) VALUES (?, ?)", (db.last_insert_rowid(), marked))


# Finding


def _rank(db: apsw.Connection, kind: PassageKind, wanted: Terms, limit: int) -> Ranked:
    [(total,)] = fetch(db, f"SELECT count(*) FROM {kind}")
    spread = {term: _spread(db, kind, term) for term in dict.fromkeys((*wanted.any, *wanted.every))}
    if not total or not all(spread[term] for term in wanted.every):
        return Ranked((), {})
    weights = {term: math.log(1 + (total - count + 0.5) / (count + 0.5)) for term, count in spread.items() if count}
    scores: defaultdict[int, float] = defaultdict(float)
    room, bounded = ENTRIES, bool(wanted.since or wanted.until)
    for term in sorted(weights, key=spread.__getitem__):
        weight = weights[term]
        # Some entries of a common term are as good as others, unless most of them lie outside the days that are asked for.
        most = -1 if bounded else max(room, 0)
        for passage in _having(db, kind, term, most):
            scores[passage] += weight
        if kind == "chapter":
            for passage in _having(db, kind, term + AGAIN, most):
                scores[passage] += weight * WORTH
        room -= spread[term]
    fitting = (
        set.intersection(*(set(_having(db, kind, term)) for term in wanted.every)) if wanted.every else set(scores)
    )
    if bounded:
        query = f"SELECT id FROM {kind} WHERE at >= ? AND at < ?"
        fitting &= {passage for (passage,) in fetch(db, query, (wanted.since, wanted.until or 1 << 62))}
    best = nlargest(max(CANDIDATES, limit), ((scores.get(passage, 0.0), passage) for passage in fitting))
    return Ranked(_weighed(db, kind, {passage: score for score, passage in best})[:limit], weights)


def _spread(db: apsw.Connection, kind: str, term: str) -> int:
    """How many passages have a term."""
    return sum(count for (count,) in fetch(db, f"SELECT doc FROM {kind}_term WHERE term = ?", (term,)))


def _having(db: apsw.Connection, kind: str, term: str, most: int = -1) -> list[int]:
    # Between quotation marks FTS5 takes a term literally, whatever is in it.
    quoted = '"' + term.replace('"', '""') + '"'
    query = f"SELECT rowid FROM {kind}_text WHERE {kind}_text MATCH ? LIMIT ?"
    return [passage for (passage,) in fetch(db, query, (quoted, most))]


def _weighed(db: apsw.Connection, kind: str, scores: dict[int, float]) -> tuple[Found, ...]:
    """The passages in the order of their score for their length, the newer of two alike first."""
    query = (
        f"SELECT p.id, p.terms, s.id, s.source, s.parent, s.forked_from, p.first, p.last, p.at FROM {kind} p "
        "JOIN sessions s ON s.n = p.session WHERE p.id IN (SELECT value FROM json_each(?))"
    )
    rows = fetch(db, query, (msgspec.json.encode(list(scores)).decode(),))
    average = sum(row[1] for row in rows) / max(1, len(rows))
    roots: dict[str, str] = {}
    found: list[Found] = []
    for passage, length, session, source, parent, forked_from, first, last, at in rows:
        if session not in roots:
            roots[session] = _root(db, session, forked_from or parent)
        norm = (SATURATION + 1) / (1 + SATURATION * (1 - LENGTH + LENGTH * length / average))
        found.append(
            Found(
                session=session,
                root=roots[session],
                source=source,
                first=first,
                last=last,
                at=at,
                score=scores[passage] * norm,
            )
        )
    return tuple(sorted(found, key=lambda one: (-one.score, -one.at, one.session, one.first)))


def _root(db: apsw.Connection, session: str, above: str) -> str:
    """The oldest session that this one comes from, as far as it is still kept."""
    seen = {session}
    while above and above not in seen:
        rows = fetch(db, "SELECT parent, forked_from FROM sessions WHERE id = ?", (above,))
        if not rows:
            return above
        seen.add(above)
        session, above = above, rows[0][1] or rows[0][0]
    return session


# Reading


def _number(db: apsw.Connection, session: str) -> int:
    """The number of a session; -1, which has no events, if it is not there."""
    found = fetch(db, "SELECT n FROM sessions WHERE id = ?", (session,))
    return found[0][0] if found else -1


def _around(db: apsw.Connection, session: str, seq: int, beside: int) -> list[Around]:
    untrusted = "coalesce((SELECT untrusted FROM indexed WHERE session = n), 0)"
    query = f"SELECT n, {untrusted}, {COLUMNS} FROM sessions WHERE id = ?"
    return [
        Around(
            session_row(tuple(row)),
            (
                *reversed(_messages(db, n, f"key < {n << SEQ_BITS | seq}", "DESC", beside)),
                *_said(db, n, seq, seq),
                *_messages(db, n, f"key > {n << SEQ_BITS | seq}", "ASC", beside),
            ),
            first_untrusted,
        )
        for n, first_untrusted, *row in fetch(db, query, (session,))
    ]


def _said(db: apsw.Connection, n: int, first: int, last: int, limit: int = -1) -> list[Said]:
    between = f"key BETWEEN {n << SEQ_BITS | first} AND {n << SEQ_BITS | last}"
    return _items(db, between, ("user", "reply", "call"), "ASC", limit)


def _messages(db: apsw.Connection, n: int, where: str, order: str, limit: int) -> list[Said]:
    inside = f"{where} AND key BETWEEN {n << SEQ_BITS} AND {(n + 1) << SEQ_BITS}"
    return _items(db, inside, ("user", "reply"), order, limit)


def _items(db: apsw.Connection, where: str, types: tuple[str, ...], order: str, limit: int) -> list[Said]:
    """Finished items of these types. Bodies are JSON as encode_body writes it: what an event is stands at its beginning."""
    kinds = " OR ".join(f"substr(body, 1, {len(ITEM) + len(name) + 1}) = '{ITEM}{name}\"'" for name in types)
    query = f"SELECT key, at, body FROM events WHERE {where} AND ({kinds}) ORDER BY key {order} LIMIT ?"
    mask = (1 << SEQ_BITS) - 1
    bodies = ((key & mask, at, decode_body(body.encode())) for key, at, body in fetch(db, query, (limit,)))
    return [Said(seq, at, body.item) for seq, at, body in bodies if isinstance(body, ItemDone)]
