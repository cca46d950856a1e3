"""What the words of a command mean: the program and its options."""

import re
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import islice

from msgspec import Struct


def listed(text: str) -> frozenset[str]:
    """The names in a text, with blanks between them."""
    return frozenset(text.split())


SHELLS = listed("sh bash dash zsh ksh mksh ash fish rbash")


def program(word: str) -> str:
    """The name of a program, without the folder if that is one where systems keep theirs; ./rm is not rm."""
    folder, _, name = word.rpartition("/")
    return name if not folder or folder in ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin") else word


class Parsed(Struct, frozen=True):
    """Arguments told apart: options without dashes, the values they took, the rest; or the one that is not known."""

    options: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    operands: tuple[str, ...] = ()
    unknown: str = ""


def parse(args: Sequence[str], short: str, long: str) -> Parsed:
    """Tell options, their values and operands apart, by the options that a program is known to have.

    `short` is a row of letters and `long` a list of words, written out in full. Behind each stands `:` for every value
    that it takes, or `?` if a value can only be joined to it.
    """
    letters, words = _takes(short, long)
    options: list[str] = []
    values: list[str] = []
    operands: list[str] = []
    rest = iter(args)
    for arg in rest:
        if arg == "--":
            operands += rest
        elif arg.startswith("--"):
            name, joined, value = arg[2:].partition("=")
            if name not in words:
                return Parsed(unknown=arg)
            options.append(name)
            values += [value] if joined else islice(rest, words[name].count(":"))
        elif arg.startswith("-") and arg != "-":
            for at, letter in enumerate(arg[1:], 2):
                if letter not in letters:
                    return Parsed(unknown=arg)
                options.append(letter)
                if takes := letters[letter]:
                    values += [arg[at:]] if arg[at:] else islice(rest, takes.count(":"))
                    break
        else:
            operands.append(arg)
    return Parsed(tuple(options), tuple(values), tuple(operands))


@cache
def _takes(short: str, long: str) -> tuple[dict[str, str], dict[str, str]]:
    """What each option takes, by its letter and by its word."""
    letters = {found[1]: found[2] for found in re.finditer(r"([^:?])([:?]*)", short)}
    words = {word.rstrip(":?"): word[len(word.rstrip(":?")) :] for word in long.split()}
    return letters, words


def split_options(args: list[str]) -> tuple[list[str], list[str]]:
    """Options and the rest; behind `--` everything is the rest."""
    if "--" in args:
        at = args.index("--")
        options, rest = split_options(args[:at])
        return options, rest + args[at + 1 :]
    options = [arg for arg in args if arg.startswith("-") and arg != "-"]
    return options, [arg for arg in args if not arg.startswith("-") or arg == "-"]


def operands(args: Sequence[str], valued: Iterable[str] = ()) -> list[str]:
    """The arguments that are neither options nor the values of the options named; behind `--` all of them."""
    found: list[str] = []
    rest = iter(args)
    for arg in rest:
        if arg == "--":
            return [*found, *rest]
        if arg in valued:
            next(rest, "")
        elif not arg.startswith("-") or arg == "-":
            found.append(arg)
    return found


def value_of(args: Sequence[str], *names: str) -> str | None:
    """The value of the last of these options, written apart or joined by `=`; a single letter's also directly."""
    found = None
    for at, arg in enumerate(args):
        for name in names:
            if arg == name and at + 1 < len(args):
                found = args[at + 1]
            elif arg.startswith(name + "=") and name.startswith("--"):
                found = arg[len(name) + 1 :]
            elif len(name) == 2 and arg.startswith(name) and not arg.startswith("--") and len(arg) > 2:
                found = arg[2:]
    return found


def has(args: Iterable[str], *options: str) -> bool:
    """Whether one of these options is set: long ones as written or with a value, letters also in a row of letters."""
    for arg in args:
        if arg == "--":
            return False
        for option in options:
            if arg == option or (option.startswith("--") and arg.startswith(option + "=")):
                return True
            if len(option) == 2 and re.fullmatch(rf"-[A-Za-z0-9]*{re.escape(option[1])}[A-Za-z0-9]*", arg):
                return True
    return False


def braces(text: str, most: int = 64) -> list[str]:
    """What the shell makes of a{b,c}d, up to a number of words."""
    found = re.search(r"\{([^{}]*,[^{}]*)\}", text)
    if not found or most <= 1:
        return [text]
    words = [text[: found.start()] + middle + text[found.end() :] for middle in found.group(1).split(",")]
    return [word for each in words[:most] for word in braces(each, most // len(words))]
