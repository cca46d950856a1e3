"""The detector: finds in a conversation, without asking a model, the places where there may be something to learn.

remember    the person says to remember something, or states a rule: always, never, from now on
correction  the person says that something was wrong
approval    the person says that something was just right
recovered   a call failed and the same tool then did it
repeated    the same three calls in a row in two turns
skill       a skill was loaded and the turn went wrong
"""

from collections.abc import Sequence, Set
from typing import Literal

from msgspec import Struct

from hermes.learning.review.phrases import APPROVAL, CORRECTION, beside_wish, is_order, wish
from hermes.protocol.items import Item, Reply, ToolCall, UserMessage, text_of

Kind = Literal["remember", "correction", "approval", "recovered", "repeated", "skill"]
ROW = 3
"""Calls in a row that make a sequence."""
SKILL_TOOLS = ("skill_view",)


class Signal(Struct, frozen=True):
    """A place that may be worth a review: what it is a sign of, and the items that show it."""

    kind: Kind
    items: tuple[str, ...]


class Wish(Struct, frozen=True):
    """What a person said to remember, in their words."""

    item: str
    text: str


def signals(items: Sequence[Item], settled: Set[str] = frozenset()) -> tuple[Signal, ...]:
    """What these items of a session, in their order, are signs of; the wish in a settled message is no sign any more."""
    found = [*_said(items, settled)]
    for turn in _turns(items):
        found += _recovered(turn)
        found += _skill_failed(turn)
    return (*found, *_repeated(items))


def wishes(items: Sequence[Item]) -> tuple[Wish, ...]:
    """What the person said outright to remember, unless the model saw to it in the same turn."""
    kept = turns_with_memory(items)
    spoken = [item for item in items if is_person(item) and item.turn not in kept]
    return tuple(
        Wish(item.id, text) for item in spoken if isinstance(item, UserMessage) and (text := wish(text_of(item.parts)))
    )


def turns_with_memory(items: Sequence[Item]) -> frozenset[int]:
    """The turns in which the model used the memory tool."""
    return frozenset(
        item.turn for item in items if isinstance(item, ToolCall) and item.name == "memory" and item.status == "done"
    )


def is_person(item: Item) -> bool:
    """Whether a person said this themselves."""
    return isinstance(item, UserMessage) and item.trust == "trusted" and item.origin in ("person", "redirect")


def is_correction(item: Item) -> bool:
    return is_person(item) and isinstance(item, UserMessage) and bool(CORRECTION.search(text_of(item.parts).casefold()))


def _said(items: Sequence[Item], settled: Set[str]) -> list[Signal]:
    found: list[Signal] = []
    before: tuple[str, ...] = ()
    for item in items:
        if isinstance(item, Reply):
            before = (item.id,)
        if not is_person(item) or not isinstance(item, UserMessage):
            continue
        text = text_of(item.parts)
        said = (beside_wish(text) if item.id in settled else text).casefold()
        if is_order(said):
            found.append(Signal("remember", (item.id,)))
        elif item.turn > 1 and CORRECTION.search(said):
            found.append(Signal("correction", (*before, item.id)))
        elif item.turn > 1 and APPROVAL.search(said):
            found.append(Signal("approval", (*before, item.id)))
    return found


def _recovered(turn: Sequence[Item]) -> list[Signal]:
    failed: dict[str, str] = {}
    found: list[Signal] = []
    for call in (item for item in turn if isinstance(item, ToolCall)):
        if call.status == "failed":
            failed.setdefault(call.name, call.id)
        elif call.status == "done" and (first := failed.pop(call.name, "")):
            found.append(Signal("recovered", (first, call.id)))
    return found


def _skill_failed(turn: Sequence[Item]) -> list[Signal]:
    """A skill was used, and the last call behind it failed or the person objected."""
    loaded = [n for n, item in enumerate(turn) if _loads_skill(item)]
    if not loaded:
        return []
    calls = [item for item in turn[loaded[-1] + 1 :] if isinstance(item, ToolCall)]
    objected = [item for item in turn[loaded[-1] + 1 :] if is_correction(item)]
    if objected or (calls and calls[-1].status == "failed"):
        return [Signal("skill", (turn[loaded[-1]].id, (objected or calls)[-1].id))]
    return []


def _loads_skill(item: Item) -> bool:
    match item:
        case ToolCall(name=name, status="done"):
            return name in SKILL_TOOLS
        case UserMessage(origin="skill"):
            return True
        case _:
            return False


def _repeated(items: Sequence[Item]) -> list[Signal]:
    """The first sequence that comes again in a later turn; reading and searching repeat themselves all the time."""
    seen: dict[tuple[tuple[str, str], ...], ToolCall] = {}
    for turn in _turns(items):
        calls = [item for item in turn if isinstance(item, ToolCall) and item.status == "done"]
        for start in range(len(calls) - ROW + 1):
            row = calls[start : start + ROW]
            if all(call.kind in ("read", "search", "think") for call in row):
                continue
            first = seen.setdefault(tuple((call.name, call.args) for call in row), row[0])
            if first.turn != row[0].turn:
                return [Signal("repeated", (first.id, row[0].id))]
    return []


def _turns(items: Sequence[Item]) -> list[list[Item]]:
    turns: dict[int, list[Item]] = {}
    for item in items:
        turns.setdefault(item.turn, []).append(item)
    return list(turns.values())
