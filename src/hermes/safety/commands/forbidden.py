"""Paths that no tool may touch, and so no command may name: Hermes' own keys, a process's memory, kernel files.

Like the look for disasters it errs towards silence. What a command reaches without naming it is for the rules, and in
the end for a sandbox.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence

from hermes.protocol.actions import Verdict
from hermes.safety.commands.argv import listed, operands, value_of
from hermes.safety.commands.names import Names
from hermes.safety.commands.programs import SEARCH
from hermes.safety.commands.steps import Step, path_from
from hermes.safety.patterns import Pattern
from hermes.safety.places import BLOCK, SINKS, Places, inside

MOST_NAMES = 2000

OnPath = Callable[[str], Verdict]

# Programs whose arguments and input are code, with paths in the midst of it.
_READS_CODE = Pattern(r"(python|perl|ruby|node|php|lua)[\d.]*|[gmn]?awk|sed|jq|deno|bun|osascript")
# How their names begin; few names need the pattern, which takes long to be made.
_STARTS = ("py", "pe", "ru", "no", "ph", "lu", "aw", "ga", "ma", "na", "se", "jq", "de", "bu", "os")
_PATH_IN_CODE = Pattern(r"[~/][\w.~/*-]+")
_JOINTS = Pattern(r"file://|[=@:,]")
_WRITES_ALL = listed("tee touch mkdir rm rmdir shred truncate unlink chmod chown")
_WRITES_LAST = frozenset({"cp", "mv", "install", "ln", "rsync"})


def forbidden(
    steps: Iterable[Step], places: Places, *, read: OnPath, write: OnPath, real: Callable[[str], str] | None
) -> Verdict | None:
    """The verdict about the first path in a command that may not be touched, or None; `real` follows links, here."""
    local = real is not None
    names = Names(MOST_NAMES if local else 0)
    for step in steps:
        lexical = (path for text in _in_code(step) for path in _named(text, step.cwds, places.user_home))
        reads = (path for text in _read(step) for path in _real(text, step.cwds, places.user_home, names, real))
        for path in (*lexical, *reads):
            if (verdict := read(path)).decision == BLOCK:
                return verdict
        for text in _written(step):
            for path in _real(text, step.cwds, places.user_home, names, real):
                if (verdict := write(path)).decision == BLOCK and not _takes_output(path):
                    return verdict
    return None


def _in_code(step: Step) -> Iterator[str]:
    if step.name.startswith(_STARTS) and _READS_CODE.fullmatch(step.name):
        for text in (*step.args, step.input.text or ""):
            yield from _PATH_IN_CODE.findall(text)


def _read(step: Step) -> Iterable[str]:
    """Every piece of a step that may name a file; it may be one to read even where the program goes on to write it."""
    pieces = list(step.input.files)
    for word in (*step.before, *_words(step)):
        pieces += [word, *_JOINTS.split(word)]
        if word.startswith("-"):
            pieces.append(word[2:])
    return dict.fromkeys(pieces)


def _words(step: Step) -> Sequence[str]:
    """The arguments of a step without those that are only said or searched for."""
    if step.name in ("echo", "printf", "true", "false", ":"):
        return ()
    if step.name in SEARCH and value_of(step.args, "-e", "--regexp", "-f", "--file") is None:
        pattern = next(iter(operands(step.args)), "")
        return [arg for arg in step.args if arg != pattern]
    return step.args


def _written(step: Step) -> Iterator[str]:
    yield from step.writes
    if step.name in _WRITES_ALL:
        yield from step.args
    elif step.name in _WRITES_LAST:
        yield from step.args[-1:]
    elif step.name == "dd":
        yield from (arg.removeprefix("of=") for arg in step.args if arg.startswith("of="))


def _named(text: str, cwds: Sequence[str], user_home: str) -> Iterator[str]:
    """The paths that a text may stand for, by its words alone."""
    if text == "~" or text.startswith("~/"):
        text = user_home + text[1:]
    if text and "\0" not in text:
        yield from (path_from(cwd, text) for cwd in cwds)


def _real(
    text: str, cwds: Sequence[str], user_home: str, names: Names, real: Callable[[str], str] | None
) -> Iterator[str]:
    """The paths that a text may stand for, and on this machine those that its patterns and links lead to."""
    for path in _named(text, cwds, user_home):
        yield path
        if real and any(char in path for char in "*?["):
            yield from map(real, names.matching(path, "/") or ())
        elif real:
            yield real(path)


def _takes_output(path: str) -> bool:
    return path in SINKS or path == "/dev/tty" or inside(path, "/dev/fd")
