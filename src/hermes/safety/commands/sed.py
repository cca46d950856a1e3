"""sed: it mostly prints, and can also change files in place, write others and start programs."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from hermes.protocol.actions import Verdict
from hermes.safety.commands.ground import Ground
from hermes.safety.commands.scripts import HIDDEN, script_file
from hermes.safety.commands.sed_script import read_script
from hermes.safety.commands.steps import Step
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.commands.verdicts import READS, WORKS, ask
from hermes.safety.patterns import Pattern
from hermes.safety.places import ALLOW

_SCRIPT = ("e", "expression")
_FILE = ("f", "file")
_VALUED = (*_SCRIPT, *_FILE, "l", "line-length")
_PLAIN = frozenset("nErsuzabH")
_WORDS = Pattern(
    r"quiet|silent|debug|follow-symlinks|posix|regexp-extended|separate|sandbox|unbuffered|null-data|zero-terminated|binary"
)


def sed(step: Step, ground: Ground) -> Verdict:
    words = _read(step.args)
    if words.unknown:
        return ask(HIDDEN, f"nobody can tell what {words.unknown} has sed do")
    for file in words.files:
        if (verdict := script_file(step, ground, file)).decision != ALLOW:
            return verdict
    orders = read_script("\n".join(words.scripts))
    if orders.why:
        return ask("code", orders.why)
    if words.edits and any(target.startswith(UNKNOWN) for target in words.targets):
        return ask("unknown-target", "nobody can tell which files sed would change")
    written = [*orders.writes, *(words.targets if words.edits else [])]
    if verdict := ground.writing(step, written) or ground.reading(step, [*orders.reads, *words.targets]):
        return verdict
    return WORKS if written or words.files else READS


class _Words(Struct):
    """The words behind `sed`: scripts, files with scripts, files to work on, and whether those are changed."""

    scripts: list[str] = []
    files: list[str] = []
    targets: list[str] = []
    edits: bool = False
    unknown: str = ""


def _read(args: Sequence[str]) -> _Words:
    found = _Words()
    rest = iter(args)
    for arg in rest:
        if arg == "--":
            found.targets += rest
        elif arg.startswith("--"):
            name, joined, value = arg[2:].partition("=")
            _option(name, value if joined else None, rest, found)
        elif arg.startswith("-") and arg != "-":
            _letters(arg[1:], rest, found)
        else:
            found.targets.append(arg)
    if found.edits and found.targets[:1] == [""]:
        # On a Mac the ending of the copy is a word of its own, and mostly an empty one.
        found.targets.pop(0)
    if not found.scripts and not found.files:
        found.scripts, found.targets = found.targets[:1], found.targets[1:]
    return found


def _letters(letters: str, rest: Iterator[str], found: _Words) -> None:
    for at, letter in enumerate(letters, 1):
        if letter in _VALUED:
            _option(letter, letters[at:] or None, rest, found)
            return
        if letter in "iI":
            found.edits = True
            return
        if letter not in _PLAIN:
            found.unknown = f"-{letters}"


def _option(name: str, value: str | None, rest: Iterator[str], found: _Words) -> None:
    if name in _VALUED:
        value = next(rest, "") if value is None else value
        found.scripts += [value] if name in _SCRIPT else []
        found.files += [value] if name in _FILE else []
    elif name == "in-place":
        found.edits = True
    elif not _WORDS.fullmatch(name):
        found.unknown = f"--{name}"
