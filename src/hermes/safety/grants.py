"""What is kept of "always allow": the parsed words of a command, never a piece of shell.

A grant is the exact words, or, where those change from one use to the next (a commit's message, a package's name), the
first words and `...` for whatever follows.
"""

import shlex

from hermes.safety.argv import SHELLS, WRAPPERS, program

Grant = tuple[str, ...]

REST = "..."

_OPEN_ENDED: dict[str, frozenset[str]] = {
    "git": frozenset({"add", "commit", "fetch", "pull", "switch"}),
    "npm": frozenset({"ci", "install", "run"}),
    "pnpm": frozenset({"install", "run"}),
    "yarn": frozenset({"add", "install", "run"}),
    "pip": frozenset({"install"}),
    "pip3": frozenset({"install"}),
    "uv": frozenset({"add", "run", "sync"}),
    "cargo": frozenset({"add", "clippy", "fmt", "run"}),
    "go": frozenset({"fmt", "get", "mod", "run"}),
}
# These run whatever they are handed, so their words say nothing about the effect.
_RUNS_ANYTHING = SHELLS | frozenset(WRAPPERS) | {"eval", "source", ".", "su", "ssh", "parallel"}


def grant_of(argv: tuple[str, ...]) -> Grant | None:
    """What to keep of a command that may always run; None if its words do not say enough."""
    if not argv or program(argv[0]) in _RUNS_ANYTHING or REST in argv:
        return None
    if argv[1:2] and argv[1] in _OPEN_ENDED.get(program(argv[0]), ()):
        return (*argv[:2], REST)
    return argv


def covers(grant: Grant, argv: tuple[str, ...]) -> bool:
    if not grant or program(argv[0]) in _RUNS_ANYTHING:
        return False
    if grant[-1] == REST:
        return len(grant) > 1 and argv[: len(grant) - 1] == grant[:-1]
    return argv == grant


def to_text(grant: Grant) -> str:
    """A grant as one line of the settings."""
    return shlex.join(grant)


def from_text(line: str) -> Grant:
    """A line of the settings as a grant; one that cannot be read grants nothing."""
    try:
        return tuple(shlex.split(line))
    except ValueError:
        return ()
