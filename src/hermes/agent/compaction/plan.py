"""What could be shortened: pure functions of a history and a window, each of which finds nothing the second time.

Always verbatim: what people said (long messages by head, tail and reference), the plan, and the newest fifth of the window.
"""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from hermes.agent.history import BYTES_PER_TOKEN, History
from hermes.agent.view import length, masked_item
from hermes.protocol.items import Item, Summary, ToolCall, UserMessage

MASK_AT, SUMMARISE_AT, NOW_AT = 0.60, 0.75, 0.85
"""Shares of the window at which old results are masked, leaves are built, and a running turn is interrupted for it."""
KEPT = 0.20
SPAN = 20_000
LEAST_SPAN = 2_000
"""Tokens that a leaf stands for, and below which it is not worth one even if somebody asks."""
LEAF = 1_200
TOGETHER, LEFT_ALONE = 6, 4


class Span(Struct, frozen=True):
    """Items that one summary would stand for, as they are in the log."""

    items: tuple[Item, ...]

    @property
    def tokens(self) -> int:
        return sum(map(length, self.items)) // BYTES_PER_TOKEN


def old(history: History, window: int, kept: float) -> tuple[Item, ...]:
    """The view without its newest part, cut between two steps, and without the call that the plan stands in."""
    view = history.view()
    end = len(view)
    if kept > 0:
        room = int(window * kept) * BYTES_PER_TOKEN
        while end and (room := room - length(view[end - 1])) >= 0:
            end -= 1
        end = _step_begins(view, min(end, len(view) - 1)) if end else 0
    plan = history.plan_call
    return tuple(item for item in view[:end] if item.id != plan)


def share_of_last(history: History, window: int, exchanges: int) -> float:
    """How much of the window the last exchanges take up: what to keep, if it is they that should be kept."""
    view = history.view()
    turns = sorted({item.turn for item in view if isinstance(item, UserMessage)})[-exchanges:]
    kept = sum(length(item) for item in view if item.turn >= turns[0]) if turns else 0
    return (kept // BYTES_PER_TOKEN + 1) / window


def to_mask(history: History, window: int, kept: float, least: int) -> tuple[str, ...]:
    """Old calls and long messages that would get shorter; empty if that saves fewer than `least` tokens."""
    found: list[str] = []
    saved = 0
    masked = history.masked()
    for item in old(history, window, kept):
        if isinstance(item, ToolCall | UserMessage) and item.id not in masked:
            gain = length(item) - length(masked_item(item))
            if gain > 0:
                found.append(item.id)
                saved += gain
    return tuple(found) if saved // BYTES_PER_TOKEN >= least else ()


def spans(history: History, window: int, kept: float, least: int) -> list[Span]:
    """What leaves could stand for: whole steps, oldest first, some 20,000 tokens each; the last not below `least`."""
    found: list[Span] = []
    group: list[Item] = []
    size, most = 0, span_size(window)
    for step in _steps(old(history, window, kept)):
        originals = [history.item(item.id) for item in step]
        more = sum(map(length, originals)) // BYTES_PER_TOKEN
        if group and size + more > most:
            found.append(Span(tuple(group)))
            group, size = [], 0
        group += originals
        size += more
    if group and size >= least:
        found.append(Span(tuple(group)))
    return found


def span_size(window: int) -> int:
    """Tokens that one leaf should stand for; in a small window they must be fewer."""
    return min(SPAN, window // 3)


def crowds(history: History) -> list[Span]:
    """The oldest leaves once there are many of them, and so the nodes: one node can stand for each of these groups."""
    found: list[Span] = []
    for kind in ("leaf", "node"):
        alike = [item for item in history.view() if isinstance(item, Summary) and item.kind == kind]
        spare = len(alike) - LEFT_ALONE
        found += [Span(tuple(alike[at : at + TOGETHER])) for at in range(0, spare - TOGETHER + 1, TOGETHER)]
    return found


def _steps(items: Sequence[Item]) -> Iterator[list[Item]]:
    """What a leaf may cover, step by step."""
    step: list[Item] = []
    for item in items:
        if isinstance(item, UserMessage | Summary):
            continue
        if step and item.step != step[0].step:
            yield step
            step = []
        step.append(item)
    if step:
        yield step


def _step_begins(view: Sequence[Item], end: int) -> int:
    """The beginning of the step that the item at `end` belongs to: a call and its neighbours are never parted."""
    while end and view[end - 1].step == view[end].step and not isinstance(view[end - 1], Summary):
        end -= 1
    return end
