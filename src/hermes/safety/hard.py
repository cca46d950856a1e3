"""Commands that never run, whoever asks: they destroy the machine or the person's home, or switch it off.

A look at the words of a command, through quotes, wrappers such as sudo and shells in shells. It errs towards silence: a
text that merely mentions a disaster passes, and what hides too well for it is still asked about by the rules.
"""

import os
import re
import unicodedata
from collections.abc import Callable, Iterator
from fnmatch import fnmatch

from msgspec import Struct

from hermes.safety.argv import SHELLS, braces, program, split_options, unwrapped
from hermes.safety.commands import DEEPEST, UNSEEN, Script, Simple, read

SYSTEM_FOLDERS = frozenset(
    {
        *(
            "/",
            "/bin",
            "/boot",
            "/dev",
            "/etc",
            "/home",
            "/lib",
            "/lib32",
            "/lib64",
            "/libx32",
            "/opt",
            "/proc",
            "/root",
        ),
        *(
            "/run",
            "/sbin",
            "/srv",
            "/sys",
            "/usr",
            "/var",
            "/var/lib",
            "/usr/bin",
            "/usr/sbin",
            "/usr/lib",
            "/usr/lib32",
        ),
        *(
            "/usr/lib64",
            "/usr/libexec",
            "/usr/share",
            "/usr/local",
            "/usr/include",
            "/Users",
            "/System",
            "/Library",
        ),
        *("/Applications", "/Volumes", "/private"),
    }
)
MOST_FOLDERS = 16
POWER = frozenset({"shutdown", "reboot", "halt", "poweroff"})

_RAW_DISK = re.compile(
    r"/dev/(([shv]|xv)d[a-z]+\d*|nvme\d+(n\d+(p\d+)?)?|mmcblk\d+(p\d+)?|r?disk\d+(s\d+)?|md\d+|dm-\d+"
    r"|mapper/.+|disk/by-.+)"
)
_FORK_BOMB = re.compile(r"(?P<name>[\w:.-]{1,40})\(\)\{(?P=name)\|(?P=name)&\};?(?P=name)")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-_]")
_WORD_GAP = re.compile(r"\$\{?IFS(?:%\?\?)?\}?(?:\$\d)?")
_NARROWS_A_FIND = re.compile(
    r"-(i?name|i?path|i?wholename|i?regex|[acm]min|[acm]time|newer\w*|empty|size|user|group|perm)"
)


class Disaster(Struct, frozen=True):
    rule: str
    why: str


def normalise(text: str) -> str:
    """The text without terminal escapes, characters nobody sees, and look-alikes of plain letters."""
    return unicodedata.normalize("NFKC", UNSEEN.sub("", _ESCAPES.sub("", text)))


def disaster(command: str, cwd: str, user_home: str) -> Disaster | None:
    """The first thing in a command that must never run, or None."""
    return _Look(cwd, user_home).at_text(normalise(command), 0)


class _Look:
    """One look at one command; it follows `cd` and variables that are set to plain words."""

    def __init__(self, cwd: str, user_home: str) -> None:
        self.cwds = [cwd]
        self.user_home = user_home
        self.variables: dict[str, str] = {"HOME": user_home}
        self.checks = self._checks()

    def at_text(self, text: str, depth: int) -> Disaster | None:
        if depth > DEEPEST:
            return None
        if _FORK_BOMB.search(re.sub(r"\s", "", _QUOTED.sub("", text))):
            return Disaster("hard-fork-bomb", "a fork bomb freezes the machine")
        return self._at_script(read(_WORD_GAP.sub(" ", text)), depth)

    def _at_script(self, script: Script, depth: int) -> Disaster | None:
        said: list[str] = []
        texts = [each.target.text for simple in script.commands for each in simple.redirects if each.operator == "<<<"]
        for simple in script.commands:
            self._take_assignments(simple)
            argv = self._expanded(simple)
            for redirect in simple.redirects:
                if found := self._write(redirect.target.text) if ">" in redirect.operator else None:
                    return found
            piped = said if simple.flow == "pipe" else []
            if found := self._at_argv(argv, piped, [simple.body, *texts, " ".join(piped)], depth):
                return found
            said = _said(argv, simple)
        return None

    def _take_assignments(self, simple: Simple) -> None:
        exported = simple.words[1:] if simple.argv[:1] in (("export",), ("declare",), ("readonly",)) else ()
        for word in (*simple.assignments, *exported):
            name, _, value = word.text.partition("=")
            self.variables[name] = self._substitute(value)

    def _substitute(self, text: str) -> str:
        def value(found: re.Match[str]) -> str:
            return self.variables.get(found["braced"] or found["name"], found.group())

        return re.sub(r"\$(?:\{(?P<braced>\w+)(?::?[-?=+][^}]*)?\}|(?P<name>[A-Za-z_]\w*))", value, text)

    def _expanded(self, simple: Simple) -> list[str]:
        words: list[str] = []
        for word in simple.words:
            text = self._substitute(word.text)
            if word.expands and not words:
                words.extend(text.split() or [""])
            elif word.tilde:
                words.append(self._home(text))
            else:
                words.extend(braces(text))
        return words

    def _home(self, text: str) -> str:
        name, slash, rest = text.partition("/")
        return (self.user_home if name == "~" else f"/home/{name[1:]}") + slash + rest

    def _at_argv(self, argv: list[str], piped: list[str], inputs: list[str], depth: int) -> Disaster | None:
        argv, is_xargs = unwrapped(argv)
        if not argv:
            return None
        name, args = program(argv[0]), argv[1:]
        if is_xargs:
            args = [*args, *piped]
        if name == "env" and args[:1] == ["-S"]:
            return self.at_text(" ".join(args[1:]), depth + 1)
        if name == "cd":
            self._follow(args[0] if args else self.user_home)
            return None
        for text in _inner_texts(name, args, inputs):
            if found := self.at_text(text, depth + 1):
                return found
        if name.startswith("mkfs.") or name in ("mkfs", "mke2fs"):
            return None if _only_help(args) else Disaster("hard-format", f"{name} wipes a disk")
        check = self.checks.get(name)
        return check(args) if check else None

    def _follow(self, target: str) -> None:
        """Add where a `cd` may lead; once there are many such places, only what is said outright."""
        starts = self.cwds if len(self.cwds) < MOST_FOLDERS else ["/"] * target.startswith("/")
        led = [self._path(start, target) for start in starts]
        self.cwds = list(dict.fromkeys([*led, *self.cwds]))[:MOST_FOLDERS]

    def _checks(self) -> dict[str, Callable[[list[str]], Disaster | None]]:
        checks: dict[str, Callable[[list[str]], Disaster | None]] = {
            "rm": self._rm,
            "find": self._find,
            "dd": self._dd,
            "kill": _kill,
            "init": _init,
            "telinit": _init,
            "systemctl": _systemctl,
        }
        checks.update(dict.fromkeys(POWER, _power))
        checks.update(dict.fromkeys(("tee", "shred", "blkdiscard"), self._write_any))
        checks.update(dict.fromkeys(("cp", "mv", "install"), lambda args: self._write_any(args[-1:])))
        return checks

    def _rm(self, args: list[str]) -> Disaster | None:
        options, targets = split_options(args)
        if not any(map(_is_recursive, options)):
            return None
        for target in targets:
            if place := self._vital(target):
                return Disaster("hard-remove", f"rm of {place} destroys the system or a home")
        return None

    def _find(self, args: list[str]) -> Disaster | None:
        roots = args[: next((at for at, arg in enumerate(args) if arg[:1] in "-(!"), len(args))]
        removes = "-delete" in args or any(program(arg) == "rm" for arg in args)
        if not removes or any(_NARROWS_A_FIND.fullmatch(arg) for arg in args):
            return None
        for root in roots or ["."]:
            if place := self._vital(root):
                return Disaster("hard-remove", f"find removes everything in {place}")
        return None

    def _dd(self, args: list[str]) -> Disaster | None:
        targets = (arg.removeprefix("of=") for arg in args if arg.startswith("of="))
        return next((found for target in targets if (found := self._write(target))), None)

    def _write_any(self, args: list[str]) -> Disaster | None:
        return next((found for arg in args if (found := self._write(arg))), None)

    def _write(self, target: str) -> Disaster | None:
        path = self._path("/", target)
        if _RAW_DISK.fullmatch(path):
            return Disaster("hard-disk", f"writing to {path} wipes a disk")
        if path == "/proc/sysrq-trigger":
            return Disaster("hard-power", "this switches the machine off")
        return None

    def _path(self, cwd: str, text: str) -> str:
        return os.path.normpath(os.path.join(cwd, text)).replace("//", "/")

    def _vital(self, target: str) -> str:
        """The system folder or home that removing this target would destroy, or nothing."""
        for cwd in self.cwds:
            path = self._path(cwd, target)
            parent, last = os.path.split(path)
            if last in ("*", ".*", "?*") and self._is_vital(parent):
                return parent
            if self._is_vital(path):
                return path
            if any(char in path for char in "*?["):
                for place in (*SYSTEM_FOLDERS, self.user_home):
                    if place.count("/") == path.count("/") and fnmatch(place, path):
                        return place
        return ""

    def _is_vital(self, path: str) -> bool:
        return (
            path in SYSTEM_FOLDERS
            or path == self.user_home
            or self.user_home.startswith(path + "/")
            or re.fullmatch(r"/(home|Users)/[^/*?\[]+", path) is not None
        )


def _inner_texts(name: str, args: list[str], inputs: list[str]) -> Iterator[str]:
    """Texts that this command hands to a shell, in its arguments or as its input."""
    if name == "eval":
        yield " ".join(args)
    elif name in SHELLS or name == "su":
        for at, arg in enumerate(args[:-1]):
            if re.fullmatch(r"-[a-z]*c", arg) or arg == "--command":
                yield args[at + 1]
        yield from inputs


def _said(argv: list[str], simple: Simple) -> list[str]:
    """What a command passes on to the next in a pipe, where its own words say it."""
    if argv and program(argv[0]) in ("echo", "printf"):
        return argv[1:]
    return [simple.body] if argv and program(argv[0]) == "cat" else []


def _is_recursive(option: str) -> bool:
    if option.startswith("--"):
        return "--recursive".startswith(option)
    return "r" in option.lower()


def _only_help(args: list[str]) -> bool:
    return bool(args) and all(arg in ("--help", "-h", "-V", "--version") for arg in args)


def _kill(args: list[str]) -> Disaster | None:
    # `kill -1 PID` is SIGHUP for one process; -1 as a process means all of them.
    everything = args == ["-1"] or "-1" in args[1:]
    return Disaster("hard-kill", "kill of -1 ends every process") if everything else None


def _init(args: list[str]) -> Disaster | None:
    return Disaster("hard-power", "this switches the machine off") if args[:1] in (["0"], ["6"]) else None


def _power(args: list[str]) -> Disaster | None:
    cancels = "-c" in args or "--show" in args or _only_help(args)
    return None if cancels else Disaster("hard-power", "this switches the machine off")


def _systemctl(args: list[str]) -> Disaster | None:
    verbs = {"poweroff", "reboot", "halt", "kexec", "soft-reboot"}
    _, rest = split_options(args)
    return Disaster("hard-power", "this switches the machine off") if rest[:1] and rest[0] in verbs else None
