"""What a turn shows: whether it was verified to succeed, how much work it was, what went wrong on the way."""

import re
from collections.abc import Sequence

from msgspec import Struct

from hermes.protocol.items import Item, ToolCall, UserMessage, text_of

ENOUGH_CALLS = 5
OWN = ("skills_list", "skill_search", "skill_view", "skill_manage", "memory", "session_search", "todo")
"""Tools about Hermes itself: a call of them is no part of the work."""
EFFECTS = ("execute", "edit", "delete", "move")
_wish = re.compile(r"(?i)\bskills?\b|fähigkeit|compétence|habilidad|技能|スキル|навык|스킬")


class Evidence(Struct, frozen=True):
    """`calls` of tools that did something, whether the last effect went well, whether an error was overcome, and whether the
    person spoke of a skill."""

    calls: int
    verified: bool
    recovered: bool
    wished: bool

    @property
    def suffices(self) -> bool:
        """Whether a skill may be born of it."""
        return self.wished or (self.verified and (self.calls >= ENOUGH_CALLS or self.recovered))


def work_of(items: Sequence[Item], turn: int) -> list[ToolCall]:
    """The calls of a turn that were part of its work, in their order."""
    calls = [item for item in items if isinstance(item, ToolCall) and item.turn == turn and item.name not in OWN]
    return sorted((call for call in calls if call.status != "discarded"), key=lambda call: (call.step, call.index))


def evidence(items: Sequence[Item], turn: int) -> Evidence:
    """What the items of a turn show."""
    calls = work_of(items, turn)
    effects = [call for call in calls if call.kind in EFFECTS] or calls
    said = " ".join(
        text_of(item.parts)
        for item in items
        if isinstance(item, UserMessage) and item.turn == turn and item.origin in ("person", "redirect")
    )
    return Evidence(
        calls=sum(call.status == "done" for call in calls),
        verified=bool(effects) and effects[-1].status == "done",
        recovered=_recovered(calls),
        wished=bool(_wish.search(said)),
    )


def _recovered(calls: Sequence[ToolCall]) -> bool:
    """Whether a tool that had failed did its work later."""
    failed: set[str] = set()
    for call in calls:
        if call.status == "failed":
            failed.add(call.name)
        elif call.status == "done" and call.name in failed and call.kind in EFFECTS:
            return True
    return False
