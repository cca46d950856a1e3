"""Tells which of many words stand in a text, without a search for each of them."""

from collections.abc import Iterable
from functools import cached_property

# From what few texts hold to what most of them do.
_LETTERS = "?&;<[]('\"|QZJXKVYWBGUHqzjx$%+/=:_-.0123456789PFMDLRSNIOCATEkvwybgpfmucdlhrsnioate "
_RANKS = str.maketrans({letter: chr(rank) for rank, letter in enumerate(_LETTERS)})


class Marks:
    """Words to look for, by the rarest letter of each: a text that lacks the letter holds none of them."""

    def __init__(self, marks: Iterable[str]) -> None:
        self._marks = marks

    @cached_property
    def _by_letter(self) -> tuple[tuple[str, list[str]], ...]:
        found: dict[str, list[str]] = {}
        for mark in dict.fromkeys(self._marks):
            ranks = mark.translate(_RANKS)
            found.setdefault(mark[ranks.index(min(ranks))], []).append(mark)
        return tuple(found.items())

    def found(self, text: str) -> list[str]:
        """Those that the text holds, in no order."""
        return [mark for letter, marks in self._by_letter if letter in text for mark in marks if mark in text]
