"""A command in namespaces of its own, made by bubblewrap: its own view of files, processes and, if wanted, no network."""

import os
import shutil
from collections.abc import Iterator
from functools import cache, lru_cache

from msgspec import Struct

from hermes.safety.places import inside
from hermes.safety.sandbox import sockets
from hermes.safety.sandbox.bounds import Bounds, Mount, Seen, mounts

# What root needs to build and unpack; nothing that reaches past the mounts.
ROOT_KEEPS = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "NET_BIND_SERVICE")
NAMESPACES = ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")


class Drawn(Struct, frozen=True):
    """The bounds in bubblewrap's words; between the two parts stand the `sockets` that are still there."""

    before: tuple[str, ...]
    sockets: tuple[str, ...]
    after: tuple[str, ...]


def arguments(
    program: str, bounds: Bounds, seen: Seen, argv: tuple[str, ...], cwd: str, *, tty: bool, lasting: bool
) -> tuple[str, ...]:
    """The call of bubblewrap that runs a command within the bounds."""
    drawn = _drawn(seen, bounds.folders.lately("sockets", sockets.paths))
    return (
        *start(program),
        # Without this, what the command leaves running keeps its namespace alive.
        *(() if lasting else ("--die-with-parent",)),
        *(() if bounds.network else ("--unshare-net",)),
        *drawn.before,
        *(word for path in drawn.sockets if os.path.lexists(path) for word in ("--ro-bind", "/dev/null", path)),
        *drawn.after,
        "--chdir",
        cwd,
        "--",
        # The session's leader here is bubblewrap; job control and /dev/tty need one that has the terminal.
        *((shutil.which("setsid") or "setsid", "-c") if tty else ()),
        *argv,
    )


@lru_cache(maxsize=16)
def _drawn(seen: Seen, listening: tuple[str, ...]) -> Drawn:
    """Most commands find all that decides about their bounds as the one before did."""
    rules = mounts(seen)
    return Drawn(
        tuple(word for mount in rules for word in _words(mount)),
        tuple(_closed(rules, listening)),
        # Only now: what is shown in a hidden folder needs a place in it first.
        tuple(word for mount in rules if mount.kind == "empty" for word in ("--remount-ro", mount.path)),
    )


def _closed(rules: list[Mount], listening: tuple[str, ...]) -> Iterator[str]:
    """Sockets of other programs: not in a place that commands may write, and not in one where they see nothing anyway."""
    for path in listening:
        nearest = max(
            (rule for rule in rules if inside(path, rule.path)), key=lambda rule: len(rule.path), default=None
        )
        if not inside(path, "/run") if nearest is None else nearest.kind == "read":
            yield path


@cache
def start(program: str) -> tuple[str, ...]:
    """The part that is the same for every command: a read-only system, and nothing that is running."""
    return (
        program,
        *NAMESPACES,
        *(_capabilities() if os.geteuid() == 0 else ()),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        *("--tmpfs", "/run", "--dir", f"/run/user/{os.getuid()}"),
    )


def _words(mount: Mount) -> tuple[str, ...]:
    source = mount.source or mount.path
    match mount.kind:
        case "read":
            return "--ro-bind-try", source, mount.path
        case "write":
            return "--bind-try", source, mount.path
        case "empty":
            return "--tmpfs", mount.path
        case "hide":
            return "--ro-bind", "/dev/null", mount.path


def _capabilities() -> Iterator[str]:
    yield from ("--cap-drop", "ALL")
    for name in ROOT_KEEPS:
        yield from ("--cap-add", f"CAP_{name}")
