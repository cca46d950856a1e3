"""What a program is handed to be run in turn: the text behind `sh -c`, a command for ssh, what find starts."""

import re
import shlex
from collections.abc import Iterator, Sequence

from hermes.safety.commands.argv import SHELLS
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.patterns import Pattern

_TAKES_TEXT = Pattern(r"-[a-z]*[cxs]|--command|--exec")


def texts_for_a_shell(name: str, args: list[str]) -> list[str]:
    """The texts in a program's arguments that it hands to a shell."""
    match name:
        case "eval":
            return [" ".join(args)]
        case "su" | "runuser" | "script" | "flock" | "sg" | "nodemon" | "entr" | "hyperfine" | "ksh":
            found = [args[at + 1] for at, arg in enumerate(args[:-1]) if _TAKES_TEXT.fullmatch(arg)]
            return found or ([arg for arg in args if " " in arg] if name == "hyperfine" else [])
        case "env":
            return [
                " ".join([joined[1], *args[at + 1 :]])
                for at, arg in enumerate(args)
                if (joined := re.fullmatch(r"(?:-[0iv]*S|--split-string=?)(.*)", arg, re.DOTALL))
            ]
        case "trap":
            return args[:1] if len(args) > 1 and not args[0].startswith("-") else []
        case "alias":
            return [arg.partition("=")[2] for arg in args if "=" in arg]
        case "concurrently" | "npm-run-all" | "stest":
            return [arg for arg in args if not arg.startswith("-")]
        case "fzf" | "sk":
            joined = [arg.partition("=")[2] for arg in args if arg.startswith("--preview=")]
            return joined + [args[at + 1] for at, arg in enumerate(args[:-1]) if arg == "--preview"]
        case "nix-shell":
            return [args[at + 1] for at, arg in enumerate(args[:-1]) if arg in ("--run", "--command")]
        case "git":
            return _texts_in_git(args)
        case "cargo" if args[:1] == ["watch"]:
            return [args[at + 1] for at, arg in enumerate(args[:-1]) if arg in ("-s", "--shell")]
        case "watch":
            return [" ".join(_after_options(args, ("-n", "--interval")))]
        case "parallel":
            words = _after_options(args, ("-j", "--jobs", "-n", "-N", "-I", "-a"))
            template, *fed = " ".join(words).split(" ::: ")
            return [f"{template.replace('{}', '')} {word}" for word in " ".join(fed).split()] or [
                template if template.split()[:1] == ["echo"] else f"{template} {UNKNOWN}"
            ]
        case "ssh":
            return [text] if (text := ssh_command(args)) else []
        case _ if name in SHELLS:
            text = shell_text(args)
            return [] if text is None else [text]
        case _ if is_python(name):
            words = apart(name, args)
            codes = [words[at + 1] for at, arg in enumerate(words[:-1]) if re.fullmatch(r"-[A-Za-z]*c", arg)]
            return [text for code in codes for text in texts_in_python(code)]
        case _:
            return []


def _texts_in_git(args: list[str]) -> list[str]:
    """What `git bisect run`, `git submodule foreach` and `git rebase --exec` start."""
    match args:
        case ["bisect", "run", *words]:
            return [shlex.join(words)]
        case ["submodule", "foreach", *words]:
            return [" ".join(word for word in words if word not in ("--recursive", "--quiet", "-q"))]
        case ["rebase", *words]:
            return [
                word.partition("=")[2] if word.startswith("--exec=") else words[at + 1]
                for at, word in enumerate(words)
                if word.startswith("--exec=") or (word in ("-x", "--exec") and at + 1 < len(words))
            ]
        case _:
            return []


def _after_options(args: list[str], valued: tuple[str, ...]) -> list[str]:
    at = 0
    while at < len(args) and args[at].startswith("-"):
        at += 2 if args[at] in valued else 1
    return args[at:]


_SHELL_VALUES = Pattern(r"[-+][a-zA-Z]*[oO]|--rcfile|--init-file")


def is_python(name: str) -> bool:
    return name.startswith(("python", "pypy")) and re.fullmatch(r"(python|pypy)[\d.]*", name) is not None


# Letters that take no value, then the one behind which the code stands, then the code itself.
_JOINED = {
    "python": Pattern(r"(-[bBdEiIOPqRsSuvx]*[cm])(.+)", re.DOTALL),
    "perl": Pattern(r"(-[acfglnpstTuUwWX0-9]*[eE])(.+)", re.DOTALL),
    "ruby": Pattern(r"(-[acdlnpswWvy0-9]*e)(.+)", re.DOTALL),
    "php": Pattern(r"(-[rRBE])(.+)", re.DOTALL),
    "lua": Pattern(r"(-e)(.+)", re.DOTALL),
    "julia": Pattern(r"(-[eE])(.+)", re.DOTALL),
}
_LONG = Pattern(r"(--(?:eval|print|run|process-code|execute))=(.*)", re.DOTALL)


def apart(name: str, args: Sequence[str]) -> list[str]:
    """The words of an interpreter with the code apart from its option: -ecode is -e code."""
    joined = _JOINED.get(re.sub(r"(jit)?[\d.]*$", "", name).replace("pypy", "python"))
    found: list[str] = []
    for at, arg in enumerate(args):
        if arg == "--":
            return [*found, *args[at:]]
        split = (joined and joined.fullmatch(arg)) or _LONG.fullmatch(arg)
        found += split.groups() if split else [arg]
    return found


def texts_in_python(code: str) -> tuple[str, ...]:
    """The texts that Python code hands to a shell, where it says them, and those that would do what it does to files."""
    if not re.search(r"system|popen|subprocess|remove|unlink|rm|rename|replace|move|copy", code):
        return ()
    # The parser of Python costs some milliseconds of import.
    from hermes.safety.commands.pycode import look

    return look(code).texts


def shell_text(args: list[str]) -> str | None:
    """The text behind `sh -c`."""
    wanted = False
    rest = iter(args)
    for arg in rest:
        if _SHELL_VALUES.fullmatch(arg):
            wanted = wanted or "c" in arg.removeprefix("--rcfile")
            next(rest, "")
        elif arg == "--command":
            wanted = True
        elif arg.startswith(("-", "+")) and len(arg) > 1 and not wanted:
            wanted = not arg.startswith("--") and "c" in arg
        elif arg.startswith("-") and wanted and len(arg) > 1:
            continue
        else:
            return arg if wanted else None
    return None


def shell_words(args: list[str]) -> list[str]:
    """What the text that a shell runs finds in $1, $2 and so on: the words behind it, but for the one that names the shell."""
    rest = list(args)
    while rest and rest[0].startswith(("-", "+")) and rest[0] != "-":
        word = rest.pop(0)
        if word == "--":
            break
        if _SHELL_VALUES.fullmatch(word):
            rest = rest[1:]
    if shell_text(args) is not None:
        return rest[2:]
    return rest[1:] if shell_script(args) else rest


def shell_script(args: list[str]) -> str | None:
    """The file that a shell is to run; None if its text comes from elsewhere."""
    rest = iter(args)
    for arg in rest:
        if _SHELL_VALUES.fullmatch(arg):
            next(rest, "")
        elif arg in ("-", "-s") or (arg.startswith("-") and not arg.startswith("--") and "c" in arg):
            return None
        elif not arg.startswith(("-", "+")):
            return arg
    return None


_SSH_VALUES = "BbcDEeFIiJLlmOopQRSWw"


def ssh_command(args: list[str]) -> str:
    """What ssh is to run on the other machine, or nothing."""
    at = 0
    while at < len(args) and args[at].startswith("-"):
        at += 2 if len(args[at]) == 2 and args[at][1] in _SSH_VALUES else 1
    return " ".join(args[at + 1 :])


def find_commands(args: list[str]) -> Iterator[list[str]]:
    """What `find` starts with -exec and its like, with the names that it would find in place of `{}`."""
    found = names_found(args)
    for at, arg in enumerate(args):
        if arg in ("-exec", "-execdir", "-ok", "-okdir"):
            rest = args[at + 1 :]
            end = next((stop for stop, word in enumerate(rest) if word in (";", "+", "\\;")), len(rest))
            yield [
                text
                for word in rest[:end]
                for text in ([word.replace("{}", name) for name in found] if "{}" in word else [word])
            ]


def names_found(args: list[str]) -> list[str]:
    """Patterns for what `find` prints, by its folders and the names it looks for."""
    args = [arg for arg in args if arg not in ("-L", "-H", "-P")]
    roots = args[: next((at for at, arg in enumerate(args) if arg[:1] in ("-", "(", "!")), len(args))] or ["."]
    names = [args[at + 1] for at, arg in enumerate(args[:-1]) if arg in ("-name", "-iname")]
    if "!" in args or "-not" in args or UNKNOWN in "".join(args):
        names = []
    return [f"{root.rstrip('/')}/{name}" for root in roots for name in names or ["*"]]
