"""What is kept of "always allow": the parsed words of a command, never a piece of shell.

A grant is the exact words. Only where those change from one use to the next and cannot start a program or read a file
elsewhere (a commit's message, the files to add) is it the first words and `...` for whatever follows.
"""

import shlex

from hermes.safety.commands.argv import SHELLS, parse, program
from hermes.safety.commands.wrappers import WRAPPERS

Grant = tuple[str, ...]

REST = "..."

# Their options, as `argv.parse` wants them.
_OPEN_ENDED: dict[tuple[str, str], tuple[str, str]] = {
    ("git", "add"): ("ANnuv", "all update verbose dry-run intent-to-add refresh"),
    ("git", "commit"): ("am:qsv", "all message: quiet signoff verbose amend no-edit allow-empty dry-run author: date:"),
    ("git", "switch"): ("c:dq", "create: detach quiet"),
}
# These run whatever they are handed, so their words say nothing about the effect.
_RUNS_ANYTHING = SHELLS | frozenset(WRAPPERS) | {"eval", "source", ".", "su", "ssh", "parallel"}


def grant_of(argv: tuple[str, ...]) -> Grant | None:
    """What to keep of a command that may always run; None if its words do not say enough."""
    if not argv or program(argv[0]) in _RUNS_ANYTHING or REST in argv:
        return None
    return (*argv[:2], REST) if _may_end_openly(argv) else argv


def covers(grant: Grant, argv: tuple[str, ...]) -> bool:
    """Whether a grant is for these words; an open end counts only where what follows is known to be harmless."""
    if not grant or program(argv[0]) in _RUNS_ANYTHING:
        return False
    if grant[-1] == REST:
        return len(grant) > 2 and argv[: len(grant) - 1] == grant[:-1] and _may_end_openly(argv)
    return argv == grant


def _may_end_openly(argv: tuple[str, ...]) -> bool:
    row = _OPEN_ENDED.get((program(argv[0]), argv[1])) if len(argv) > 1 else None
    return row is not None and not parse(argv[2:], *row).unknown


def to_text(grant: Grant) -> str:
    """A grant as one line of the settings."""
    return shlex.join(grant)


def from_text(line: str) -> Grant:
    """A line of the settings as a grant; one that cannot be read grants nothing."""
    try:
        return tuple(shlex.split(line))
    except ValueError:
        return ()
