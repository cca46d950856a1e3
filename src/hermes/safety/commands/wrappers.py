"""The command behind another one: sudo, env, timeout, xargs and their like."""

from msgspec import Struct

from hermes.safety.commands.argv import program
from hermes.safety.patterns import Pattern


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
    "numactl": Wrapper("CNmiplb", stays=("H", "s", "--hardware", "--show")),
    **dict.fromkeys(("cross-env", "cross-env-shell", "dotenv", "dotenvx", "env-cmd"), Wrapper("ef", before=0)),
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
_SETS_VARIABLES = frozenset({"env", "sudo", "doas", "cross-env", "cross-env-shell"})
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
    while name in _SETS_VARIABLES and at < len(argv) and _ASSIGNMENT.match(argv[at]):
        at += 1
    if at >= len(argv):
        return None
    return Peeled(name, tuple(argv[:begin]), tuple(argv[begin:at]), tuple(argv[at:]))
