"""A session's standing goal, as the notices in its log tell it: that is where it lives, so it survives a resume."""

from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from hermes.protocol.events import Notice

Told = Literal["goal", "goal_turn", "goal_paused", "goal_resumed", "goal_reached", "goal_cleared"]
"""The codes of notices about a goal."""
SET = "Goal: "
"""What stands before the goal itself, in the notice that sets it."""


class Goal(Struct, frozen=True):
    """What should be reached; `turns` counts how often Hermes went on by itself since the person last said so."""

    text: str
    state: Literal["active", "paused", "reached"] = "active"
    turns: int = 0


def goal_after(goal: Goal | None, notice: Notice) -> Goal | None:
    """The goal as it is after a notice."""
    match notice.code:
        case "goal":
            return Goal(notice.text.removeprefix(SET))
        case "goal_cleared":
            return None
        case "goal_turn" if goal:
            return replace(goal, turns=goal.turns + 1)
        case "goal_paused" if goal:
            return replace(goal, state="paused")
        case "goal_resumed" if goal:
            return replace(goal, state="active", turns=0)
        case "goal_reached" if goal:
            return replace(goal, state="reached")
        case _:
            return goal
