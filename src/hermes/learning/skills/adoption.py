"""Whether a skill may be used: what trials must show before anyone sees it.

A trial does a past task again from its recording, once with the skill and once without. With it the task must succeed at least
as well, and take at least 15 % fewer steps or tokens. The task that the skill was made of, passed, makes it visible on trial; two
more like it make it active. One that came out worse ends it.
"""

from collections.abc import Sequence
from typing import Literal

from msgspec import Struct

from hermes.protocol.skills import Finding, Trial

LESS = 0.15
LIKE = 2
"""Past tasks beside the first that a skill has to pass to be active."""
PROVED_NOTHING = "its trial proved nothing"
Verdict = Literal["active", "trial", "wait", "reject"]


class Outcome(Struct, frozen=True):
    """How a task went: `right` is None where that cannot be told; `diverged` says what the recording did not know."""

    right: bool | None
    steps: int
    tokens: int
    diverged: str = ""


def compare(without: Outcome, with_it: Outcome) -> tuple[Finding, str]:
    """What one trial shows."""
    for arm, outcome in (("with it", with_it), ("without it", without)):
        if outcome.diverged:
            return "inconclusive", f"{arm}: {outcome.diverged}"
    if with_it.right is None or without.right is None:
        return "inconclusive", "nobody can tell whether the task succeeded"
    if without.right and not with_it.right:
        return "worse", "the task succeeded without it and failed with it"
    if not with_it.right:
        return "inconclusive", "the task failed with it and without it"
    steps, tokens = _less(without.steps, with_it.steps), _less(without.tokens, with_it.tokens)
    told = f"{without.steps} to {with_it.steps} steps, {without.tokens:,} to {with_it.tokens:,} tokens"
    if max(steps, tokens) >= LESS:
        return "better", told
    if min(steps, tokens) <= -LESS:
        return "worse", told
    return "same", told


def judge(source: Trial, like: Sequence[Trial]) -> tuple[Verdict, str]:
    """What becomes of a candidate, and why in one line."""
    told = [trial for trial in (source, *like) if trial.finding != "inconclusive"]
    worse = next((trial for trial in told if trial.finding == "worse"), None)
    if worse is not None:
        return "reject", f"it made a past task worse: {worse.why}"
    if source.finding == "inconclusive":
        return "wait", f"{PROVED_NOTHING}: {source.why}"
    if source.finding == "same":
        return "reject", f"it saves nothing: {source.why}"
    if sum(trial.finding == "better" for trial in like) >= LIKE:
        return "active", f"it helped with {1 + len(told[1:])} past tasks: {source.why}"
    return "trial", f"it helped with the task it was made of: {source.why}"


def saved(trials: Sequence[Trial]) -> int:
    """Tokens that one use saves, by what the trials showed."""
    told = [trial for trial in trials if trial.finding == "better"]
    return max(0, sum(trial.tokens[0] - trial.tokens[1] for trial in told) // len(told)) if told else 0


def _less(before: int, after: int) -> float:
    return (before - after) / before if before else 0.0
