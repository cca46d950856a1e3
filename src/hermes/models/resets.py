"""A wish to try every key again, passed from one Hermes process to those that are running: a mark in the home."""

import os
from pathlib import Path

FOLDER = "auth-reset"
EVERY = "all"
NEVER = (0, 0)


def request_reset(home: Path, provider: str = "") -> None:
    """Let every process of this home forget which keys of a provider, or of all, have failed."""
    folder = home / FOLDER
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    mark = _name(provider) if provider else EVERY
    unfinished = folder / f".{mark}.{os.getpid()}"
    unfinished.touch(mode=0o600)
    unfinished.replace(folder / mark)


def reset_mark(home: Path, provider: str) -> tuple[tuple[int, int], ...]:
    """What changes whenever a reset is asked for that this provider's keys are meant by."""
    folder = f"{home}/{FOLDER}"
    if not os.path.exists(folder):  # as in nearly every home: one look before a model call is enough
        return NEVER, NEVER
    return _stamp(f"{folder}/{EVERY}"), _stamp(f"{folder}/{_name(provider)}")


def _name(provider: str) -> str:
    """A file name for any provider, those that people name themselves included."""
    return f"of-{provider.replace('%', '%25').replace('/', '%2F')}"


def _stamp(path: str) -> tuple[int, int]:
    try:
        found = os.stat(path)
    except OSError:
        return NEVER
    return found.st_ino, found.st_mtime_ns
