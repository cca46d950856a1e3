"""A shell command read down to each program that it starts: the one reading that every rule works on."""

from collections.abc import Callable
from functools import lru_cache

from msgspec import Struct

from hermes.protocol.actions import Verdict
from hermes.safety.commands.ground import Ground
from hermes.safety.commands.rules import judge_found
from hermes.safety.commands.steps import Puzzle, Step
from hermes.safety.commands.syntax import deceives, normalise, without_marks
from hermes.safety.commands.verdicts import READS
from hermes.safety.commands.walk import Walk
from hermes.safety.places import ALLOW, ASK, Follower, Places


class Reading(Struct, frozen=True):
    """What a command comes down to, as written and, if that differs, without its disguises."""

    found: tuple[Step | Puzzle, ...]

    @property
    def steps(self) -> list[Step]:
        return [each for each in self.found if isinstance(each, Step)]


@lru_cache(maxsize=16)
def read(command: str, cwd: str, places: Places) -> Reading:
    """Take a command apart; never fails, and what cannot be followed is a Puzzle among what was found. Gate, checkpoint and
    sandbox all ask for the reading of the same command."""
    texts = dict.fromkeys([without_marks(normalise(command)), without_marks(command)])
    found: list[Step | Puzzle] = []
    for text in texts:
        try:
            found += Walk(cwd, places.user_home, places.home).through(text)
        except RecursionError:
            found.append(Puzzle("there is too much in it to follow"))
    if deceives(command):
        found.append(Puzzle("it holds characters that make it look like something else"))
    return Reading(tuple(found))


def only_reads(command: str, cwd: str, places: Places) -> bool:
    """Whether a command, once permitted, leaves every file as it is."""
    ground = Ground(
        workspace=cwd,
        places=places,
        local=True,
        read=_always(Verdict(ALLOW, "read")),
        write=_always(Verdict(ASK, "write", "it writes")),
        real=Follower(),
    )
    return judge_found(read(command, cwd, places).found, ground) == READS


def _always(verdict: Verdict) -> Callable[[str], Verdict]:
    return lambda path: verdict
