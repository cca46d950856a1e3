"""Whether the files that are looked at now will be the same when a command in a row of commands runs."""

from collections.abc import Sequence
from itertools import takewhile

from hermes.safety import git
from hermes.safety.argv import program
from hermes.safety.commands import Simple
from hermes.safety.places import SINKS
from hermes.safety.programs import PROGRAMS, SAY_ANYTHING

# Programs that are done at once and change nothing.
_QUIET = (PROGRAMS.keys() | SAY_ANYTHING | {"cd", "command", "date", "find", "sed", "test", "["}) - {"sleep", "tail"}
_QUIET_GIT = git.READS.keys() | git.LISTS.keys() | set(git.PREFIXES)
_NO_FILES = SINKS | {"1", "2", "-"}


def is_settled(commands: Sequence[Simple], at: int) -> bool:
    """Whether nothing that may run before this command, or at its side in a pipe, writes or waits while others may."""
    beside = takewhile(lambda simple: simple.flow == "pipe", commands[at + 1 :])
    return not any(map(_stirs, [*commands[:at], *beside]))


def _stirs(simple: Simple) -> bool:
    if any(">" in redirect.operator and redirect.target.text not in _NO_FILES for redirect in simple.redirects):
        return True
    argv = simple.argv or ("true",)
    name = program(argv[0])
    return argv[1] not in _QUIET_GIT if name == "git" and len(argv) > 1 else name not in _QUIET
