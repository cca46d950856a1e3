"""From a session's log to the passages of the index: windows of eight messages, and chapters.

A message is what a person, or the model, said; tool calls belong to the message before them, eight at most, and then count
as a message of their own. Of a call the index has its tool, its title and the two ends of its result: enough to find a file,
a command or an error by, without the pages that were read. Every passage has the days on which it was said.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from msgspec import Struct

from hermes.learning.recall.normalise import terms
from hermes.protocol.items import Item, Reply, ToolCall, UserMessage, text_of
from hermes.protocol.recall import Indexed, Passage, Said, Unread

WINDOW, STRIDE = 8, 4
CHAPTER = 64
CALLS = 8
LONGEST = 20_000
"""Characters of a message that are in the index: of a longer one the head and the tail."""
ENDS = 80
"""Characters of both ends of a result."""
_months = "January February March April May June July August September October November December"
MONTHS = _months.split()


class Unit(Struct, frozen=True):
    """A message with the calls behind it."""

    first: int
    last: int
    at: float
    terms: frozenset[str]


def index(unread: Unread) -> Indexed:
    """The passages for what is not in the index yet."""
    units = list(units_of(unread.said))
    recent = [unit for unit in units if unit.first >= unread.window]
    newest = [unit for unit in units if unit.first >= unread.chapter]
    if newest:
        newest[-1] = _with(newest[-1], unread.title)
    return Indexed(
        session=unread.session,
        title=unread.title,
        was=unread.was,
        seq=unread.seq,
        untrusted=unread.untrusted,
        windows=tuple(_passages(recent, WINDOW, STRIDE, _of_window)),
        chapters=tuple(_passages(newest, CHAPTER, CHAPTER, _of_chapter)),
    )


def units_of(said: Sequence[Said]) -> Iterator[Unit]:
    group: list[Said] = []
    for each in said:
        if not text_for_index(each.item):
            continue
        full = sum(isinstance(other.item, ToolCall) for other in group) >= CALLS
        if group and (full or not isinstance(each.item, ToolCall)):
            yield _unit(group)
            group = []
        group.append(each)
    if group:
        yield _unit(group)


def text_for_index(item: Item) -> str:
    """What of an item can be found; empty for what was void."""
    match item:
        case UserMessage(parts=parts):
            return _clipped(text_of(parts), LONGEST)
        case Reply(text=text, status="done" | "interrupted"):
            return _clipped(text, LONGEST)
        case ToolCall(status=status) as call if status != "discarded":
            return f"{call.name} {call.title[:200]} {_clipped(text_of(call.result), 2 * ENDS)}"
        case _:
            return ""


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most // 2]} {text[-most // 2 :]}"


def _unit(group: list[Said]) -> Unit:
    words = chain(_day(group[0].at), *(terms(text_for_index(each.item)) for each in group))
    return Unit(group[0].seq, group[-1].seq, group[0].at, frozenset(words))


def _day(at: float) -> list[str]:
    """The terms of a day as people write it in a question, in the time of this place."""
    moment = time.localtime(at)
    return terms(f"{moment.tm_mday} {MONTHS[moment.tm_mon - 1]} {moment.tm_year}")


def _with(unit: Unit, title: str) -> Unit:
    return Unit(unit.first, unit.last, unit.at, unit.terms | set(terms(title)))


def _passages(units: list[Unit], size: int, stride: int, terms_of: Callable[[list[Unit]], str]) -> Iterator[Passage]:
    """The units in groups of `size`, every `stride` of them a new one, until all are in one."""
    for start in range(0, len(units), stride):
        group = units[start : start + size]
        yield Passage(group[0].first, group[-1].last, group[0].at, terms_of(group))
        if start + size >= len(units):
            return


# Sorted, so that the same log makes the same index.


def _of_window(group: list[Unit]) -> str:
    return " ".join(sorted(frozenset[str]().union(*(unit.terms for unit in group))))


def _of_chapter(group: list[Unit]) -> str:
    """Each term, twice if it is in several messages: what a session is about is said in it again."""
    said, again = set[str](), set[str]()
    for unit in group:
        again |= said & unit.terms
        said |= unit.terms
    return " ".join(sorted((*said, *again)))
