"""Budgets are hard: a turn stops before the call that would go beyond one."""

from hermes.protocol.errors import LimitReached
from hermes.protocol.events import Usage
from hermes.protocol.ops import Budget


class Meter:
    """Counts what a turn has used. A subagent's meter has its parent's above it, so that both are charged."""

    def __init__(self, budget: Budget, above: "Meter | None" = None) -> None:
        self.budget = budget
        self.steps = 0
        self.tokens = 0
        self.money = 0.0
        self.unpriced = ""
        self._above = above

    def before_call(self, estimate: int) -> int | None:
        """Raise LimitReached unless another model call fits; returns how many tokens it may give, None if unlimited."""
        budget = self.budget
        if budget.steps is not None and self.steps >= budget.steps:
            raise LimitReached("steps", f"the limit of {budget.steps} steps a turn is reached")
        if budget.money is not None and self.money >= budget.money:
            raise LimitReached("money", f"the budget of ${budget.money:g} is spent")
        if budget.money is not None and self.unpriced:
            raise LimitReached(
                "money", f"the price of {self.unpriced} is not known, so the money budget cannot be kept"
            )
        left = None
        if budget.tokens is not None:
            left = budget.tokens - self.tokens - estimate
            if left <= 0:
                raise LimitReached("tokens", f"the budget of {budget.tokens:,} tokens is spent")
        above = self._above.before_call(estimate) if self._above else None
        return min((n for n in (left, above) if n is not None), default=None)

    def charge(self, usage: Usage) -> None:
        self.steps += 1
        self.tokens += usage.input + usage.output
        self.money += usage.cost or 0.0
        if usage.cost is None:
            self.unpriced = usage.model
        if self._above:
            self._above.charge(usage)
