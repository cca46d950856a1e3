"""Words of entries: which of them say something, and when two entries say about the same."""

import re

from hermes.learning.memory.text import normal

SAME = 0.6
"""The share of words from which on two entries count as two sightings of one thing."""
_unspaced = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
# In Chinese, Japanese and Korean each letter counts as a word.
_word = re.compile(rf"[{_unspaced}]|[^\W_{_unspaced}]+")
_filler = re.compile(
    r"an?|the|to|of|in|on|at|for|with|by|is|are|was|be|its?|this|that|and|or|but|as|so|user|person|prefers|wants|likes"
    r"|der|die|das|eine?|ist|und|oder|l[ae]|les|une?|est|et|el|los|las|y|es"
)


def words(content: str) -> list[str]:
    return _word.findall(content.casefold())


def telling(content: str) -> frozenset[str]:
    """The words of an entry that say something."""
    return frozenset(word for word in words(content) if not _filler.fullmatch(word))


def is_about_same(one: str, other: str) -> bool:
    """Whether two entries may speak of the same thing, and so one of them may contradict the other."""
    a, b = telling(one), telling(other)
    return bool(a and b) and 2 * len(a & b) >= min(len(a), len(b))


def is_alike(one: str, other: str) -> bool:
    """Whether two entries say about the same."""
    a, b = telling(one), telling(other)
    return normal(one) == normal(other) or (bool(a | b) and len(a & b) / len(a | b) >= SAME)
