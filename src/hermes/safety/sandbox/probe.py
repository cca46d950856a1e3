"""Whether bubblewrap works here: tried once for each kernel, program and setting, and remembered in Hermes' home."""

import logging
import os
import subprocess
from pathlib import Path

import msgspec

from hermes import config
from hermes.protocol.errors import UserError
from hermes.safety.sandbox.bubblewrap import start

log = logging.getLogger(__name__)

SECONDS = 5.0
# Switches of the system that let people without rights make namespaces, or not.
SWITCHES = (
    "/proc/sys/kernel/unprivileged_userns_clone",
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
    "/proc/sys/user/max_user_namespaces",
)


def fault(program: str, memory: Path, *, network: bool) -> str:
    """Why this bubblewrap cannot be used; nothing if it can."""
    key = _key(program, network)
    known = _read(memory)
    if key not in known:
        known = {key: _try(program, network)}
        try:
            for folder in (memory.parent.parent, memory.parent):  # parents made on the way would be open to others
                folder.mkdir(mode=0o700, exist_ok=True)
            config.write_private(memory, msgspec.json.encode(known).decode())
        except (OSError, UserError) as error:
            log.warning("bubblewrap will be tried again next time: %s", error)
    return known[key]


def _key(program: str, network: bool) -> str:
    seen = os.stat(program)
    switches = [Path(path).read_text().strip() if os.path.exists(path) else "" for path in SWITCHES]
    parts = [program, seen.st_mtime_ns, seen.st_size, os.uname().release, os.geteuid(), network, *switches]
    return " ".join(map(str, parts))


def _try(program: str, network: bool) -> str:
    argv = [*start(program), *(() if network else ("--unshare-net",)), "--", "/bin/sh", "-c", ":"]
    try:
        # In a session of its own, by which the terminal knows a child that bubblewrap leaves to be reaped.
        ran = subprocess.run(
            argv, env={}, stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS, start_new_session=True
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return str(error)
    if ran.returncode == 0:
        return ""
    return ran.stderr.decode(errors="replace").strip() or f"it ended with code {ran.returncode}"


def _read(memory: Path) -> dict[str, str]:
    try:
        return msgspec.json.decode(memory.read_bytes(), type=dict[str, str])
    except (OSError, msgspec.DecodeError):
        return {}
