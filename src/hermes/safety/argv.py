"""What the words of a command mean: the program, its options, and the command behind a wrapper such as sudo."""

import re
from collections.abc import Sequence
from functools import cache
from itertools import islice

from msgspec import Struct

SHELLS = frozenset({"sh", "bash", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"})

# Programs that run another one: the options that take a value, and how many words stand before that program.
WRAPPERS: dict[str, tuple[str, int]] = {
    "sudo": ("ugChpRrtTUD", 0),
    "doas": ("uC", 0),
    "env": ("uCS", 0),
    "nohup": ("", 0),
    "nice": ("n", 0),
    "ionice": ("cnpPu", 0),
    "timeout": ("ks", 1),
    "time": ("fo", 0),
    "stdbuf": ("ioe", 0),
    "setsid": ("", 0),
    "exec": ("a", 0),
    "command": ("", 0),
    "builtin": ("", 0),
    "busybox": ("", 0),
    "xargs": ("IEPnLsda", 0),
    "watch": ("n", 0),
    "flock": ("wE", 1),
    "chroot": ("", 1),
}
_KEYWORDS = frozenset({"if", "then", "elif", "else", "do", "while", "until", "!", "{", "time", "coproc"})


def program(word: str) -> str:
    """The name of a program, without the folder if that is one where systems keep theirs; ./rm is not rm."""
    folder, _, name = word.rpartition("/")
    return name if not folder or folder in ("/bin", "/sbin", "/usr/bin", "/usr/sbin", "/usr/local/bin") else word


def unwrapped(argv: list[str]) -> tuple[list[str], bool]:
    """The command behind sudo, env, nohup and the like, and whether xargs was among them."""
    is_xargs = False
    while argv:
        name = program(argv[0])
        if argv[0] in _KEYWORDS:
            argv = argv[1:]
            continue
        if name not in WRAPPERS or (name == "env" and argv[1:2] == ["-S"]):
            break
        is_xargs = is_xargs or name == "xargs"
        valued, before = WRAPPERS[name]
        at = 1
        while at < len(argv) and argv[at].startswith("-") and argv[at] != "-":
            if argv[at] == "--":
                at += 1
                break
            at += 2 if len(argv[at]) == 2 and argv[at][1] in valued else 1
        while at < len(argv) and re.match(r"[A-Za-z_]\w*=", argv[at]):
            at += 1
        argv = argv[at + before :]
    return argv, is_xargs


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


def braces(text: str, most: int = 64) -> list[str]:
    """What the shell makes of a{b,c}d, up to a number of words."""
    found = re.search(r"\{([^{}]*,[^{}]*)\}", text)
    if not found or most <= 1:
        return [text]
    words = [text[: found.start()] + middle + text[found.end() :] for middle in found.group(1).split(",")]
    return [word for each in words[:most] for word in braces(each, most // len(words))]
