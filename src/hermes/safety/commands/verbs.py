"""Programs whose first words say what they do: a table of the verbs that only read and those that only work here."""

from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import operands
from hermes.safety.commands.verdicts import READS, WORKS, ask


class Verbs(Struct, frozen=True):
    """The verbs of a program: one word each, or several joined by `.`.

    `valued` are its options in front of the verb that take a value; with an option of `asks` it asks whatever the verb;
    without a verb it reads if `bare`. Any other verb asks, by this rule and for this reason.
    """

    reads: str = ""
    works: str = ""
    valued: str = ""
    asks: str = ""
    bare: bool = False
    rule: str = "outside-effect"
    why: str = "{} changes something outside the working folder"


def judge_verbs(name: str, row: Verbs, args: Sequence[str]) -> Verdict:
    for arg in args:
        if arg.partition("=")[0] in _split(row.asks):
            return ask(row.rule, row.why.format(f"{name} {arg}"))
    words = operands(args, _split(row.valued))
    for count in (3, 2, 1):
        verb = ".".join(words[:count])
        if verb and verb in _split(row.reads):
            return READS
        if verb and verb in _split(row.works):
            return WORKS
    if not words and row.bare:
        return READS
    return ask(row.rule, row.why.format(" ".join([name, *words[:2]])))


@cache
def _split(text: str) -> frozenset[str]:
    return frozenset(text.split())
