"""Commands that never run, whoever asks: they destroy the machine or the person's home, or switch it off.

It errs towards silence: what hides too well to be seen here is still asked about by the rules.
"""

import os
import re
from collections.abc import Callable, Iterable, Sequence
from fnmatch import fnmatch

from msgspec import Struct

from hermes.safety.commands.argv import listed, program, split_options
from hermes.safety.commands.steps import FORK_BOMB, Step, path_from
from hermes.safety.patterns import Pattern

SYSTEM_FOLDERS = listed(
    "/ /bin /boot /dev /etc /home /lib /lib32 /lib64 /libx32 /opt /proc /root /run /sbin /srv /sys /usr /var "
    "/var/lib /usr/bin /usr/sbin /usr/lib /usr/lib32 /usr/lib64 /usr/libexec /usr/share /usr/local /usr/include "
    "/Users /System /Library /Applications /Volumes /private"
)

_RAW_DISK = Pattern(
    r"/dev/(([shv]|xv)d[a-z]+\d*|nvme\d+(n\d+(p\d+)?)?|mmcblk\d+(p\d+)?|r?disk\d+(s\d+)?|md\d+|dm-\d+"
    r"|mapper/.+|disk/by-.+)"
)
_NARROWS_A_FIND = Pattern(
    r"-(i?name|i?path|i?wholename|i?regex|[acm]min|[acm]time|newer\w*|empty|size|user|group|perm)"
)


class Disaster(Struct, frozen=True):
    rule: str
    why: str


_OFF = Disaster("hard-power", "this switches the machine off")


def disaster(steps: Iterable[Step], user_home: str) -> Disaster | None:
    """The first program among those that a command starts that must never run, or None."""
    return next((happens for step in steps if (happens := _write(step.writes) or _at_step(step, user_home))), None)


def _at_step(step: Step, user_home: str) -> Disaster | None:
    if step.name == FORK_BOMB:
        return Disaster("hard-fork-bomb", "a fork bomb freezes the machine")
    if step.name == "rm":
        return _rm(step, user_home)
    if step.name == "find":
        return _find(step, user_home)
    args = list(step.args)
    if step.name.startswith("mkfs.") or step.name in ("mkfs", "mke2fs"):
        return None if _only_help(args) else Disaster("hard-format", f"{step.name} wipes a disk")
    check = _CHECKS.get(step.name)
    return check(args) if check else None


# Removing


def _rm(step: Step, user_home: str) -> Disaster | None:
    options, targets = split_options(list(step.args))
    if not any(map(_is_recursive, options)):
        return None
    for target in targets:
        if place := _vital(target, step.cwds, user_home):
            return Disaster("hard-remove", f"rm of {place} destroys the system or a home")
    return None


def _find(step: Step, user_home: str) -> Disaster | None:
    args = step.args
    roots = args[: next((at for at, arg in enumerate(args) if arg[:1] in "-(!"), len(args))]
    removes = "-delete" in args or any(program(arg) == "rm" for arg in args)
    if not removes or any(_NARROWS_A_FIND.fullmatch(arg) for arg in args):
        return None
    for root in roots or ["."]:
        if place := _vital(root, step.cwds, user_home):
            return Disaster("hard-remove", f"find removes everything in {place}")
    return None


def _is_recursive(option: str) -> bool:
    if option.startswith("--"):
        return "--recursive".startswith(option)
    return "r" in option.lower()


def _vital(target: str, cwds: Sequence[str], user_home: str) -> str:
    """The system folder or home that removing this target would destroy, or nothing."""
    for cwd in cwds:
        path = path_from(cwd, target)
        parent, last = os.path.split(path)
        if last in ("*", ".*", "?*") and _is_vital(parent, user_home):
            return parent
        if _is_vital(path, user_home):
            return path
        if any(char in path for char in "*?["):
            for place in (*SYSTEM_FOLDERS, user_home):
                if place.count("/") == path.count("/") and fnmatch(place, path):
                    return place
    return ""


def _is_vital(path: str, user_home: str) -> bool:
    return (
        path in SYSTEM_FOLDERS
        or path == user_home
        or user_home.startswith(path + "/")
        or re.fullmatch(r"/(home|Users)/[^/*?\[]+", path) is not None
    )


# Disks, processes, power


def _write(targets: Sequence[str]) -> Disaster | None:
    for target in targets:
        path = path_from("/", target)
        if _RAW_DISK.fullmatch(path):
            return Disaster("hard-disk", f"writing to {path} wipes a disk")
        if path == "/proc/sysrq-trigger":
            return _OFF
    return None


def _dd(args: list[str]) -> Disaster | None:
    return _write([arg.removeprefix("of=") for arg in args if arg.startswith("of=")])


def _kill(args: list[str]) -> Disaster | None:
    # `kill -1 PID` is SIGHUP for one process; -1 as a process means all of them.
    everything = args == ["-1"] or "-1" in args[1:]
    return Disaster("hard-kill", "kill of -1 ends every process") if everything else None


def _init(args: list[str]) -> Disaster | None:
    return _OFF if args[:1] in (["0"], ["6"]) else None


def _power(args: list[str]) -> Disaster | None:
    # Alone, -h is no help: it turns the machine off a minute later.
    return None if "-c" in args or "--show" in args or (_only_help(args) and "-h" not in args) else _OFF


def _systemctl(args: list[str]) -> Disaster | None:
    _, rest = split_options(args)
    return _OFF if rest[:1] and rest[0] in {"poweroff", "reboot", "halt", "kexec", "soft-reboot"} else None


def _only_help(args: list[str]) -> bool:
    return bool(args) and all(arg in ("--help", "-h", "-V", "--version") for arg in args)


_CHECKS: dict[str, Callable[[list[str]], Disaster | None]] = {
    "dd": _dd,
    "kill": _kill,
    "init": _init,
    "telinit": _init,
    "systemctl": _systemctl,
    **dict.fromkeys(("shutdown", "reboot", "halt", "poweroff"), _power),
    **dict.fromkeys(("tee", "shred", "blkdiscard"), _write),
    **dict.fromkeys(("cp", "mv", "install"), lambda args: _write(args[-1:])),
}
