"""The command behind another one: sudo, env, xargs, find -exec, sh -c, ssh and their like."""

import re
import shlex
from collections.abc import Iterator

from msgspec import Struct

from hermes.safety.commands.argv import SHELLS, program
from hermes.safety.commands.patterns import Pattern
from hermes.safety.commands.syntax import UNKNOWN


class Wrapper(Struct, frozen=True):
    """How a program that runs another one is written: options that take a value, and how many words come before it.

    With an option in `stays` it does something else, and is judged by itself.
    """

    short: str = ""
    long: tuple[str, ...] = ()
    before: int = 0
    stays: tuple[str, ...] = ()


_PLAIN = Wrapper()
_RUN = Wrapper("pE", ("--project", "--group", "--extra", "--env-file", "--directory", "--package"))
WRAPPERS: dict[str, Wrapper] = {
    "sudo": Wrapper("ugChpRrtTUD", ("--user", "--group"), stays=tuple("sieASlvkK") + ("--stdin", "--askpass")),
    "doas": Wrapper("uC", stays=("s",)),
    "env": Wrapper("uC", ("--unset", "--chdir"), stays=("S",)),
    "nice": Wrapper("n", ("--adjustment",)),
    "ionice": Wrapper("cnpPu"),
    "timeout": Wrapper("ks", ("--signal", "--kill-after"), before=1),
    "gtimeout": Wrapper("ks", ("--signal", "--kill-after"), before=1),
    "time": Wrapper("fo"),
    "stdbuf": Wrapper("ioe"),
    "exec": Wrapper("a"),
    "command": Wrapper(stays=("v", "V")),
    "xargs": Wrapper("IEPnLsda", ("--max-args", "--max-procs", "--arg-file", "--delimiter", "--max-lines")),
    "flock": Wrapper("wE", before=1, stays=("c", "u")),
    "chroot": Wrapper(before=1),
    "strace": Wrapper("eopsPEu"),
    "ltrace": Wrapper("eop"),
    "taskset": Wrapper(before=1),
    "chrt": Wrapper(before=1),
    "unshare": Wrapper(),
    "nsenter": Wrapper("tSG", ("--target",)),
    "systemd-run": Wrapper("pu", ("--unit", "--property", "--on-calendar", "--on-active")),
    "xvfb-run": Wrapper("ens"),
    "valgrind": Wrapper(),
    "proxychains": Wrapper("f"),
    "runuser": Wrapper("ug", stays=("c", "l")),
    "pkexec": Wrapper("", ("--user",)),
    "entr": Wrapper(stays=("s",)),
    "prlimit": Wrapper("p", ("--pid",), stays=("p", "--pid")),
    "systemd-inhibit": Wrapper(),
    "systemd-cat": Wrapper("tp"),
    **dict.fromkeys(("nohup", "setsid", "builtin", "busybox", "toybox", "then", "coproc", "!", "unbuffer"), _PLAIN),
    **dict.fromkeys(
        (
            "torsocks",
            "proxychains4",
            "caffeinate",
            "catchsegv",
            "fakeroot",
            "setarch",
            "linux32",
            "linux64",
            "dbus-run-session",
            "chronic",
            "ifne",
            "firejail",
            "noglob",
            "nocorrect",
        ),
        _PLAIN,
    ),
}
# The same for programs where a second word says that they run another one.
TWO_WORDS: dict[tuple[str, str], Wrapper] = {
    ("uv", "run"): Wrapper("pmw", _RUN.long, stays=("--with", "--with-requirements", "--script", "--from", "m")),
    **dict.fromkeys(
        (("bundle", "exec"), ("pyenv", "exec"), ("rbenv", "exec"), ("nvm", "exec"), ("volta", "run")), _PLAIN
    ),
    **dict.fromkeys(
        (("stack", "exec"), ("cabal", "exec"), ("opam", "exec"), ("mix", "cmd"), ("lerna", "exec")), _PLAIN
    ),
    **dict.fromkeys((("pixi", "run"), ("micromamba", "run"), ("mamba", "run")), Wrapper("npe", ("--name", "--prefix"))),
    ("perf", "stat"): Wrapper("eropC"),
    ("perf", "record"): Wrapper("eFgopC"),
    ("conda", "run"): Wrapper("np", ("--name", "--prefix")),
    ("direnv", "exec"): Wrapper(before=1),
    ("docker", "exec"): Wrapper("euw", ("--env", "--user", "--workdir"), before=1),
    ("podman", "exec"): Wrapper("euw", ("--env", "--user", "--workdir"), before=1),
    ("docker-compose", "exec"): Wrapper("euw", ("--env", "--user", "--workdir"), before=1),
    **dict.fromkeys((("poetry", "run"), ("pipenv", "run"), ("pdm", "run"), ("hatch", "run"), ("rye", "run")), _RUN),
    **dict.fromkeys((("mise", "exec"), ("mise", "x"), ("asdf", "exec"), ("dotenv", "run"), ("op", "run")), _PLAIN),
}
_ASSIGNMENT = Pattern(r"[A-Za-z_]\w*=")


class Peeled(Struct, frozen=True):
    """A wrapper's name, what stood before the command in it, the variables set for it, and the command."""

    name: str
    before: tuple[str, ...]
    env: tuple[str, ...]
    argv: tuple[str, ...]


def peel(argv: list[str]) -> Peeled | None:
    """Take off one wrapper; None if there is none, or nothing in it."""
    name = program(argv[0])
    row, at = WRAPPERS.get(name), 1
    if row is None and len(argv) > 2:
        if argv[:3] == ["docker", "compose", "exec"]:
            row, at = TWO_WORDS[("docker", "exec")], 3
        elif (name, argv[1]) in TWO_WORDS:
            row, at = TWO_WORDS[(name, argv[1])], 2
        elif (name in ("kubectl", "oc") and "exec" in argv[:4] and "--" in argv) or (
            name in ("wait-for-it", "dockerize", "chamber", "infisical", "doppler") and "--" in argv
        ):
            return _rest(name, argv, argv.index("--") + 1)
        elif (name, argv[1]) == ("nix", "develop") and (at := _index(argv, "-c", "--command")):
            return _rest(name, argv, at + 1)
    if row is None:
        return None
    while at < len(argv) and argv[at].startswith("-") and argv[at] != "-":
        word = argv[at]
        at += 1
        if word == "--":
            break
        if word.partition("=")[0] in row.stays:
            return None
        if word.startswith("--"):
            at += word in row.long
        elif (set(word[1:]) & set(row.stays) and name != "env") or (word[1:2] == "S" and name == "env"):
            return None
        else:
            at += word[-1] in row.short and len(word) == 2
    return _rest(name, argv, at + row.before)


def _index(words: list[str], *wanted: str) -> int:
    return next((at for at, word in enumerate(words) if word in wanted), 0)


def _rest(name: str, argv: list[str], at: int) -> Peeled | None:
    begin = at
    while name in ("env", "sudo", "doas") and at < len(argv) and _ASSIGNMENT.match(argv[at]):
        at += 1
    if at >= len(argv):
        return None
    return Peeled(name, tuple(argv[:begin]), tuple(argv[begin:at]), tuple(argv[at:]))


def texts_for_a_shell(name: str, args: list[str]) -> list[str]:
    """The texts in a program's arguments that it hands to a shell."""
    match name:
        case "eval":
            return [" ".join(args)]
        case "su" | "runuser" | "script" | "flock" | "sg" | "nodemon" | "entr" | "hyperfine" | "ksh":
            found = [
                args[at + 1] for at, arg in enumerate(args[:-1]) if arg in ("-c", "--command", "-x", "--exec", "-s")
            ]
            return found or ([arg for arg in args if " " in arg] if name == "hyperfine" else [])
        case "env":
            return [" ".join(args[at + 1 :]) for at, arg in enumerate(args) if arg in ("-S", "--split-string")]
        case "trap":
            return args[:1] if len(args) > 1 and not args[0].startswith("-") else []
        case "alias":
            return [arg.partition("=")[2] for arg in args if "=" in arg]
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
            codes = [args[at + 1] for at, arg in enumerate(args[:-1]) if re.fullmatch(r"-[A-Za-z]*c", arg)]
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
    return re.fullmatch(r"(python|pypy)[\d.]*", name) is not None


def texts_in_python(code: str) -> tuple[str, ...]:
    """The texts that Python code hands to a shell, where it says them."""
    if not re.search(r"system|popen|subprocess", code):
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
