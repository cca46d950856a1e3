"""Old text as quotations: cut to size, every line marked, and trusted no more than what it came from."""

import re
import time
from collections.abc import Iterable

from hermes.learning.recall.normalise import terms
from hermes.learning.recall.search import role_of
from hermes.protocol.items import Item, Plan, Reply, Summary, Thought, ToolCall, Trust, UserMessage, text_of
from hermes.protocol.recall import Said

SHORT_ID = 6
"""Characters of an item's name that tell it from the others of its session."""
TRUST: tuple[Trust, ...] = ("trusted", "workspace", "untrusted")

_sentence = re.compile(r"\S+")


def body_of(item: Item) -> str:
    """All of an item's text, for a reader."""
    match item:
        case UserMessage(parts=parts):
            return text_of(parts)
        case Reply(text=text) | Thought(text=text) | Summary(text=text):
            return text
        case ToolCall(name=name, title=title, result=result) as call:
            return f"{name}({title or call.args})\n{text_of(result)}"
        case Plan(entries=entries):
            return "\n".join(f"[{entry.status}] {entry.content}" for entry in entries)


def line(item: Item, most: int, mark: str = "") -> str:
    """An item in one line of at most so many bytes of text."""
    return f"{mark}{item.id[:SHORT_ID]} {role_of(item)}> {cut(one_line(body_of(item)), most)}"


def block(item: Item, most: int) -> str:
    """An item with its lines, each marked as a quotation, of at most so many bytes of text."""
    quoted = "\n".join(f"| {each}".rstrip() for each in cut(body_of(item).strip(), most).splitlines())
    return f"{item.id} {role_of(item)}:\n{quoted}"


def one_line(text: str) -> str:
    return " ".join(text.split())


def cut(text: str, most: int) -> str:
    """At most so many bytes of a text: outside English a character costs more than one."""
    raw = text.encode()
    return text if len(raw) <= most else raw[: max(0, most - 3)].decode(errors="ignore") + "…"


def snippet(text: str, weights: dict[str, float], most: int) -> str:
    """The piece of a text that has most of what was asked for, at most so many bytes."""
    text = one_line(text)
    if len(text.encode()) <= most:
        return text
    words = [
        (match.start(), sum(weights.get(term, 0.0) for term in terms(match.group())))
        for match in _sentence.finditer(text)
    ]
    span = most * len(text) // len(text.encode()) - 6
    best, best_worth, first, worth = 0, -1.0, 0, 0.0
    for at, value in words:
        worth += value
        while at - words[first][0] > span * 3 // 4:
            worth -= words[first][1]
            first += 1
        if worth > best_worth + 1e-9:
            best, best_worth = words[first][0], worth
    start = max(0, min(best - span // 8, len(text) - span))
    start = text.find(" ", start) + 1 if start else 0
    return ("…" if start else "") + cut(text[start:], most - 3 * bool(start))


def when(at: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(at))


def least_trust(said: Iterable[Said], untrusted: int) -> Trust:
    """How far these can be trusted together. What a model answered after `untrusted`, the place in its session where it had
    first seen something untrusted (0 for never), may be somebody else's words."""
    worst = 0
    for each in said:
        tainted = untrusted and each.seq > untrusted and isinstance(each.item, Reply)
        worst = max(worst, 2 if tainted else TRUST.index(each.item.trust))
    return TRUST[worst]
