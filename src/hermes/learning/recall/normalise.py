"""Text as the index sees it: words in one form, names split at their humps, CJK in pairs of characters.

A question and a text go through the same function, so that what is the same to a reader is the same to the index.
"""

import re
import unicodedata
from collections.abc import Iterator
from functools import lru_cache

from hermes.learning.recall.porter import stem

LONGEST = 40
"""Characters of a term: a hash in full; what is longer is nobody's word."""
_stop = """
    a about above after again against all also am an and any are as at be because been before being below between both but by
    can could did do does doing done down during each else ever every few for from further get gets getting give go goes going
    got had has have having he her here hers herself him himself his how i if in into is it its itself just let like ll made make
    makes may maybe me might more most much must my myself no nor not now of off ok okay on once one only or other our ours
    ourselves out over own please re really s same say says shall she should so some such t tell than that the their theirs them
    themselves then there these they thing things this those through to told too under until up us use used using ve very want
    wanted was we well were what when where which while who whom whose why will with would yes you your yours yourself yourselves
    """
STOP_WORDS = frozenset(_stop.split())
MAY = "May"
"""A month, or a word to leave out: only its capital tells."""

_word = re.compile(r"\w+")
_part = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_cjk = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+")
_accent = re.compile(r"[\u0300-\u036f]+")


def terms(text: str) -> list[str]:
    """The terms of a text in their order, stop words left out."""
    if not text.isascii():
        text = _plain(text)
    return [term for word in _word.findall(text) for term in _terms_of(word)]


def words(text: str) -> list[str]:
    """The words of a text as they are written, without case and accents: what a quoted phrase is compared by."""
    plain = _plain(text) if not text.isascii() else text
    return [piece for word in _word.findall(plain) for piece in _spaced(word.lower())]


@lru_cache(maxsize=30_000)
def _terms_of(word: str) -> tuple[str, ...]:
    """The terms of one word: its parts, and behind those of a name that has several the whole name."""
    parts = list(_parts(word))
    found = [_shortened(part) for part in parts if part not in STOP_WORDS or word == MAY]
    if len(parts) > 1 and word.isascii():
        found.append("".join(parts)[:LONGEST])
    return tuple(found)


def _shortened(word: str) -> str:
    return stem(word) if len(word) <= LONGEST and word.isascii() and word.isalpha() else word[:LONGEST]


def _plain(text: str) -> str:
    """Wide and joined forms as the usual ones, and letters without their accents."""
    text = unicodedata.normalize("NFKC", text)
    return unicodedata.normalize("NFC", _accent.sub("", unicodedata.normalize("NFD", text)))


def _parts(word: str) -> Iterator[str]:
    if word.isascii():
        yield from (part.lower() for part in _part.findall(word))
        return
    for piece in word.casefold().split("_"):
        yield from _pairs(piece)


def _pairs(word: str) -> Iterator[str]:
    """A word of a script without spaces as its pairs of neighbours; any other as it is."""
    at = 0
    for run in _cjk.finditer(word):
        if run.start() > at:
            yield word[at : run.start()]
        text = run.group()
        yield from (text[n : n + 2] for n in range(max(1, len(text) - 1)))
        at = run.end()
    if at < len(word):
        yield word[at:]


def _spaced(word: str) -> Iterator[str]:
    """CJK characters one by one, because nothing marks where its words end; any other word whole."""
    at = 0
    for run in _cjk.finditer(word):
        if run.start() > at:
            yield word[at : run.start()]
        yield from run.group()
        at = run.end()
    if at < len(word):
        yield word[at:]
