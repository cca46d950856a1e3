"""What was installed from where, with the hash that its files had then: skills/.hub/lock.json, and the log beside it."""

import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct

from hermes import config
from hermes.learning.skills.shelf import LOCK
from hermes.protocol.errors import UserError

Trust = Literal["builtin", "trusted", "community"]
HUB = ".hub"


class Pin(Struct, frozen=True, kw_only=True):
    """An installed skill: where it came from, where it lies in the home, and what its files were."""

    source: str
    place: str
    hash: str
    trust: Trust
    verdict: str
    at: float
    revision: str = ""


class _File(Struct, frozen=True):
    version: int = 1
    skills: dict[str, Pin] = {}


class Lock:
    """The pins of one folder of skills; changing them is for whoever is `holding` it, for several processes share a home."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.hub = root / HUB
        self.path = self.hub / "lock.json"

    def read(self) -> dict[str, Pin]:
        """Every pin by the name of its skill; UserError if the file was damaged."""
        try:
            return msgspec.json.decode(self.path.read_bytes(), type=_File).skills
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError) as error:
            raise UserError(f"cannot read {self.path}: {error}", "mend it, or move it away and install again") from None

    def hashes(self) -> dict[str, str]:
        """The hash that each installed skill must have to be used."""
        return {name: pin.hash for name, pin in self.read().items()}

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Keep every other process from placing or removing skills meanwhile. Blocks."""
        self.hub.mkdir(parents=True, exist_ok=True, mode=0o700)
        with config.locked(self.root / LOCK):
            yield

    def write(self, pins: Mapping[str, Pin]) -> None:
        file = _File(skills=dict(sorted(pins.items())))
        text = msgspec.json.format(msgspec.json.encode(file), indent=2).decode()
        config.write_private(self.path, f"{text}\n")

    def note(self, action: str, name: str, **more: str) -> None:
        """Add a line to the log of what was installed, refused, changed and removed."""
        self.hub.mkdir(parents=True, exist_ok=True, mode=0o700)
        row = {"at": time.time(), "action": action, "skill": name, **more}
        handle = os.open(self.hub / "audit.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        try:
            os.write(handle, msgspec.json.encode(row) + b"\n")
        finally:
            os.close(handle)
