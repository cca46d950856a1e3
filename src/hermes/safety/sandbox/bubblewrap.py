"""A command in namespaces of its own, made by bubblewrap: its own view of files, processes and, if wanted, no network."""

import os
import shutil
from collections.abc import Iterator

from hermes.protocol.safety import Grants
from hermes.safety.places import inside
from hermes.safety.sandbox import sockets
from hermes.safety.sandbox.bounds import Bounds, Mount, mounts

# What root needs to build and unpack; nothing that reaches past the mounts.
ROOT_KEEPS = ("CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID", "KILL", "SETGID", "SETUID", "NET_BIND_SERVICE")
NAMESPACES = ("--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try")


def arguments(
    program: str, bounds: Bounds, argv: tuple[str, ...], cwd: str, grants: Grants, *, tty: bool, lasting: bool
) -> tuple[str, ...]:
    """The call of bubblewrap that runs a command within the bounds."""
    rules = mounts(bounds, cwd, grants)
    emptied = {mount.path for mount in rules if mount.kind == "hide" and os.path.isdir(mount.path)}
    return (
        *start(program),
        # Without this, what the command leaves running keeps its namespace alive.
        *(() if lasting else ("--die-with-parent",)),
        *(() if bounds.network else ("--unshare-net",)),
        *(word for mount in rules for word in _words(mount, mount.path in emptied)),
        *(word for path in _sockets(rules, bounds) for word in ("--ro-bind", "/dev/null", path)),
        # Only now: what is shown in a hidden folder needs a place in it first.
        *(word for mount in rules if mount.path in emptied for word in ("--remount-ro", mount.path)),
        "--chdir",
        cwd,
        "--",
        # The session's leader here is bubblewrap; job control and /dev/tty need one that has the terminal.
        *((shutil.which("setsid") or "setsid", "-c") if tty else ()),
        *argv,
    )


def _sockets(rules: list[Mount], bounds: Bounds) -> Iterator[str]:
    """Those of other programs: not in a place that commands may write, and not in one where they see nothing anyway."""
    for path in bounds.folders.lately("sockets", sockets.paths):
        nearest = max(
            (rule for rule in rules if inside(path, rule.path)), key=lambda rule: len(rule.path), default=None
        )
        closed = not inside(path, "/run") if nearest is None else nearest.kind == "read"
        if closed and os.path.lexists(path):
            yield path


def start(program: str) -> tuple[str, ...]:
    """The part that is the same for every command: a read-only system, and nothing that is running."""
    return (
        program,
        *NAMESPACES,
        *(_capabilities() if os.geteuid() == 0 else ()),
        *("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc"),
        *("--tmpfs", "/run", "--dir", f"/run/user/{os.getuid()}"),
    )


def _words(mount: Mount, emptied: bool) -> tuple[str, ...]:
    source = mount.source or mount.path
    match mount.kind:
        case "read":
            return "--ro-bind-try", source, mount.path
        case "write":
            return "--bind-try", source, mount.path
        case "hide" if emptied:
            return "--tmpfs", mount.path
        case "hide":
            return "--ro-bind", "/dev/null", mount.path


def _capabilities() -> Iterator[str]:
    yield from ("--cap-drop", "ALL")
    for name in ROOT_KEEPS:
        yield from ("--cap-add", f"CAP_{name}")
