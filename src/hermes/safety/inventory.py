"""All checkpoints together: which folders have some, how much they take up, and throwing them away."""

import asyncio
import os
import time
from pathlib import Path

import msgspec
from msgspec import Struct

from hermes.safety.shadow import ShadowGit, held
from hermes.safety.snapshots import Limits, Note, Shelf, unlatin


class Kept(Struct, frozen=True, kw_only=True):
    """The checkpoints of one folder: how many, and the times of the oldest and the newest."""

    folder: str
    count: int
    oldest: float
    newest: float


class Inventory:
    """The checkpoints in Hermes' home, whoever took them; without git, or before the first, there are none."""

    def __init__(self, home: str, search_path: str, limits: Limits) -> None:
        self._git = ShadowGit(Path(home), search_path)
        self._shelf = Shelf(self._git, limits)

    @property
    def is_empty(self) -> bool:
        return self._git.program is None or not self._git.store.exists() or not self._shelf.references()

    async def folders(self) -> tuple[Kept, ...]:
        """Every folder with a checkpoint, the one that changed last first."""
        if self.is_empty:
            return ()
        by_folder: dict[str, list[Note]] = {}
        async with held(self._git.store / "lock", shared=True):
            hashes = [reference.read_text().strip() for reference in self._shelf.references()]
            for commit in await self._git.commits(hashes):
                if commit is not None:
                    note = msgspec.json.decode(commit[1], type=Note)
                    by_folder.setdefault(os.fsdecode(unlatin(note.folder)), []).append(note)
        kept = [
            Kept(folder=folder, count=len(notes), oldest=min(n.at for n in notes), newest=max(n.at for n in notes))
            for folder, notes in by_folder.items()
        ]
        return tuple(sorted(kept, key=lambda each: each.newest, reverse=True))

    async def size(self) -> int:
        """Bytes on disk."""
        return await asyncio.to_thread(self._shelf.size)

    async def prune(self) -> int:
        """Throw away what is older or more than the limits allow; gives how many checkpoints went."""
        return 0 if self.is_empty else await self._shelf.sweep(time.time())

    async def clear(self) -> int:
        """Throw away every checkpoint of every folder; gives how many went."""
        if self.is_empty:
            return 0
        async with held(self._git.store / "lock"):
            references = self._shelf.references()
            for reference in references:
                reference.unlink()
            await self._shelf.pack()
        return len(references)
