"""The verdicts that rules give about one program."""

from hermes.protocol.actions import Verdict
from hermes.safety.places import ALLOW, ASK

# Rules about effects that no container holds back.
REACHES_OUT = frozenset({"sends-data", "git-remote", "remote-state", "way-in", "attack"})

READS = Verdict(ALLOW, "reads", "it only reads")
WORKS = Verdict(ALLOW, "work", "it builds, tests or changes only what is in the working folder")


def ask(rule: str, why: str) -> Verdict:
    return Verdict(ASK, rule, why)


def worst(verdicts: "list[Verdict]") -> Verdict:
    """The strictest of some verdicts: what reaches other machines before what does not, work before reading."""
    order = {"block": 0, "ask": 1, "allow": 2}

    def rank(verdict: Verdict) -> tuple[int, bool, bool]:
        return order[verdict.decision], verdict.rule not in REACHES_OUT, verdict == READS

    return min(verdicts, key=rank, default=READS)
