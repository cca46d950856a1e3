"""MEMORY.md and USER.md: written whole, one process at a time, and never over what somebody else has put there."""

import asyncio
import os
import random
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from hermes.config import replace_private, took_lock
from hermes.learning.memory.text import NAMES
from hermes.protocol.errors import UserError
from hermes.protocol.targets import Target

PATIENCE = 60.0


class MemoryFiles:
    """The two files in their folder.

    A text is first laid beside its file (`lay`), then the store commits, then it takes the file's place (`settle`): a text
    that is found lying there tells whoever comes next how far a process came that was killed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, target: Target) -> Path:
        return self.folder / NAMES[target]

    def read(self, target: Target) -> str | None:
        """The file's text; None if there is no file."""
        return _read(self.path(target))

    def laid(self, target: Target) -> str | None:
        return _read(self._beside(target))

    async def lay(self, target: Target, text: str) -> None:
        await asyncio.to_thread(self._lay, target, text)

    def settle(self, target: Target) -> None:
        self._beside(target).replace(self.path(target).resolve())

    def drop(self, target: Target) -> None:
        self._beside(target).unlink(missing_ok=True)

    @asynccontextmanager
    async def locked(self) -> AsyncIterator[None]:
        """Keep other processes from changing memory meanwhile; the kernel frees the lock of one that was killed."""
        self.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        handle = os.open(self.folder / ".lock", os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            deadline = time.monotonic() + PATIENCE
            while not took_lock(handle):
                if time.monotonic() > deadline:
                    hint = "end the hermes process that hangs, and try again"
                    raise UserError(f"another process has kept {self.folder} locked for {PATIENCE:.0f} s", hint)
                await asyncio.sleep(random.uniform(0.002, 0.02))
            yield
        finally:
            os.close(handle)

    def _lay(self, target: Target, text: str) -> None:
        try:
            replace_private(self._beside(target), text)
        except OSError as error:
            hint = "free some space, or check its permissions; memory is as it was"
            raise UserError(f"cannot write {self.path(target)}: {error.strerror}", hint) from error

    def _beside(self, target: Target) -> Path:
        """In the folder of the real file, which a link may lead to: only there it can take the file's place at once."""
        real = self.path(target).resolve()
        return real.with_name(f".{real.name}.next")


def _read(path: Path) -> str | None:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        return None
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"cannot read {path}: {error}", "mend it, or move it away") from None
