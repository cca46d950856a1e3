"""A question as it is typed: words of which any will do, "phrases" that must be there, and -words that must not."""

import re

from msgspec import Struct

from hermes.learning.recall.normalise import MAY, terms, words

_piece = re.compile(r'(?<!\S)(-?)(?:"([^"]*)"|(\S+))')


class Query(Struct, frozen=True):
    """`any` are terms of the index; `phrases` and `without` are words in their order, as they are written."""

    any: tuple[str, ...]
    every: tuple[str, ...]
    phrases: tuple[tuple[str, ...], ...]
    without: tuple[tuple[str, ...], ...]

    @property
    def strict(self) -> bool:
        """Whether a passage must be read to know that it fits."""
        return bool(self.phrases or self.without)

    def fits(self, texts: list[str]) -> bool:
        """Whether these messages have every phrase, each within one of them, and nothing that must not be there."""
        said = [f" {' '.join(words(text))} " for text in texts]
        has = [any(_spaced(phrase) in text for text in said) for phrase in self.phrases]
        return all(has) and not any(_spaced(phrase) in text for phrase in self.without for text in said)


def parse(text: str) -> Query:
    """Nothing in a question is syntax but quotation marks and a minus before a word."""
    loose: list[str] = []
    phrases: list[tuple[str, ...]] = []
    without: list[tuple[str, ...]] = []
    every: list[str] = []
    for minus, quoted, plain in _piece.findall(text):
        piece = quoted or plain
        spelled = tuple(words(piece))
        if not spelled:
            continue
        if minus:
            without.append(spelled)
            continue
        loose += terms(piece)
        if quoted:
            phrases.append(spelled)
            # A phrase has no case, but "May" is a term only with its capital.
            every += [term for term in terms(quoted) if term not in terms(MAY)]
    return Query(tuple(dict.fromkeys(loose)), tuple(dict.fromkeys(every)), tuple(phrases), tuple(without))


def _spaced(phrase: tuple[str, ...]) -> str:
    return f" {' '.join(phrase)} "
