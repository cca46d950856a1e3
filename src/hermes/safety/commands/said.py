"""What a program prints where its own words tell it, and which files it writes besides its redirections."""

import os
import re

from hermes.safety.commands.handed import names_found
from hermes.safety.commands.syntax import UNKNOWN
from hermes.safety.patterns import Pattern

_ECHO_ESCAPE = Pattern(r"\\(x[0-9a-fA-F]{1,2}|0?[0-7]{1,3}|[nt\\])")
_FORMAT = Pattern(r"%(-?\d*\.?\d*[sdb]|%)")


def said(name: str, args: list[str], text: str | None, cwd: str) -> str | None:
    """What a program prints, given the text that it is fed; None if only running it would tell."""
    match name:
        case "echo":
            return _echo(args)
        case "printf" if args and args[0] != "-v":
            return _printf(args)
        case "cat" | "tee" if not [arg for arg in args if not arg.startswith("-")] or name == "tee":
            return text
        case "pwd":
            return cwd
        case "cat" if len(args) == 1 and re.fullmatch(r"[\w./-]+\.pid", args[0]) and not args[0].startswith("/"):
            # A file of this kind names one process: what the shell calls a job.
            return "%pid"
        case "mktemp":
            return "/tmp/made-by-mktemp"
        case "which" | "command" | "type" if args and not args[-1].startswith("-"):
            return args[-1]
        case "basename" | "dirname" if args and UNKNOWN not in args[0]:
            whole = os.path.basename(args[0]) if name == "basename" else os.path.dirname(args[0])
            return whole.removesuffix(args[1]) if len(args) > 1 else whole
        case "realpath" | "readlink" if args and not args[-1].startswith("-"):
            return os.path.normpath(os.path.join(cwd, args[-1]))
        case "find":
            return "\n".join(names_found(args))
        case "git" if args[:2] == ["rev-parse", "--show-toplevel"]:
            return cwd
        case "git" if args[:1] == ["ls-files"] or args[:2] == ["diff", "--name-only"]:
            return "./*"
        case "ls" | "fd" | "rg" | "grep" if name in ("ls", "fd") or any("l" in arg for arg in args if arg[:1] == "-"):
            return _names_listed(name, args)
        case "true" | ":" | "cd" | "set" | "export" | "mkdir" | "touch" | "test" | "[" | "[[":
            return ""
        case _:
            return None


def _echo(args: list[str]) -> str:
    options = 0
    while options < len(args) and re.fullmatch(r"-[neE]+", args[options]):
        options += 1
    text = " ".join(args[options:])
    if any("e" in arg for arg in args[:options]):
        text = _ECHO_ESCAPE.sub(_unescape, text)
    return text + "\n"


def _printf(args: list[str]) -> str:
    form = _ECHO_ESCAPE.sub(_unescape, args[0])
    values = list(args[1:])
    lines: list[str] = []
    while True:
        used = len(values)
        lines.append(_FORMAT.sub(lambda found: "%" if found[1] == "%" else (values.pop(0) if values else ""), form))
        if not values or len(values) == used:
            return "".join(lines)


def _unescape(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] == "x":
        return chr(int(code[1:], 16))
    return {"n": "\n", "t": "\t", "\\": "\\"}.get(code) or chr(int(code, 8) & 0xFF)


def _names_listed(name: str, args: list[str]) -> str:
    """Patterns for the names that a listing prints: what lies in the folders that it is told to look at."""
    places = [arg for arg in args if not arg.startswith("-")]
    if name == "grep" or name == "rg":
        places = places[1:]
    if name == "ls":
        return "\n".join(place if "*" in place else f"{place.rstrip('/')}/*" for place in places) or "./*"
    return "\n".join(f"{place.rstrip('/')}/*" for place in places) or "./*"


def files_made(name: str, args: list[str]) -> list[str]:
    """Files that a program leaves with contents that its words do not tell."""
    operands = [arg for arg in args if not arg.startswith("-")]
    match name:
        case "curl" | "wget" | "openssl":
            values = [args[at + 1] for at, arg in enumerate(args[:-1]) if re.fullmatch(r"-\w*[oO]|-out|--output", arg)]
            urls = [arg.rstrip("/").rpartition("/")[2] for arg in operands if "://" in arg or name == "wget"]
            return [*values, *urls]
        case "tee":
            return operands
        case "cp" | "mv" | "install" | "scp" | "rsync" if operands:
            *sources, target = operands
            return [target, *(os.path.join(target, os.path.basename(source)) for source in sources)]
        case _:
            return []
