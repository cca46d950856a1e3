"""Wishes that were seen to when they were said: nothing is left in them that a model would have to be asked about."""

from collections.abc import Iterable, Mapping, Sequence

from hermes.learning.memory.text import normal
from hermes.learning.memory.words import is_about_same
from hermes.learning.review.apply import entry_time
from hermes.learning.review.detector import is_person, turns_with_memory
from hermes.learning.review.phrases import wish
from hermes.protocol.items import Item, UserMessage, text_of
from hermes.protocol.memories import Memory


def settled(
    items: Sequence[Item], rows: Iterable[Memory], session: str, times: Mapping[str, float]
) -> tuple[frozenset[str], frozenset[str]]:
    """The messages whose wish is remembered, and those of them that no older entry about the same thing may contradict."""
    rows = list(rows)
    by_model = turns_with_memory(items)
    kept: set[str] = set()
    clear: set[str] = set()
    for item in items:
        if not is_person(item) or not isinstance(item, UserMessage) or not (told := wish(text_of(item.parts))):
            continue
        own = [row.id for row in rows if _is_from(row, session, item.id) or _says(row, told)]
        if not own and item.turn not in by_model:
            continue
        kept.add(item.id)
        others = [row for row in rows if row.state == "active" and row.id not in own]
        older = [row for row in others if entry_time(row, session, times) < times[item.id]]
        if not any(is_about_same(row.content, told) for row in older):
            clear.add(item.id)
    return frozenset(kept), frozenset(clear)


def _is_from(row: Memory, session: str, item: str) -> bool:
    return (row.origin, row.session, row.item) == ("person", session, item)


def _says(row: Memory, told: str) -> bool:
    return row.state == "active" and normal(row.content) == normal(told)
