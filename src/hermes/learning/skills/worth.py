"""How useful skills were: what was counted, and the order that follows from it."""

from collections.abc import Iterable
from math import sqrt

from hermes.protocol.skills import SkillUse

Z = 1.96
"""For an interval that holds the truth in 95 of 100 cases."""


def wilson(good: int, bad: int) -> tuple[float, float]:
    """Wilson's interval for the share of good outcomes: two of two prove less than forty of fifty."""
    count = good + bad
    if not count:
        return 0.0, 1.0
    share = good / count
    middle = share + Z * Z / (2 * count)
    spread = Z * sqrt(share * (1 - share) / count + Z * Z / (4 * count * count))
    whole = 1 + Z * Z / count
    return max(0.0, (middle - spread) / whole), min(1.0, (middle + spread) / whole)


def summed(uses: Iterable[SkillUse]) -> dict[str, SkillUse]:
    """What all versions of each skill were used for together."""
    sums: dict[str, SkillUse] = {}
    for use in uses:
        before = sums.get(use.skill, SkillUse(skill=use.skill))
        sums[use.skill] = SkillUse(
            skill=use.skill,
            offered=before.offered + use.offered,
            loaded=before.loaded + use.loaded,
            helped=before.helped + use.helped,
            failed=before.failed + use.failed,
            saved=before.saved + use.saved,
            at=max(before.at, use.at),
        )
    return sums


def worth(use: SkillUse) -> tuple[float, int]:
    """By what skills are ranked, more is better: proven help, then how often they were wanted at all."""
    return wilson(use.helped, use.failed)[0], use.loaded
