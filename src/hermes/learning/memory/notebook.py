"""The notebook: memory opened for reading and writing, its rows in the store and its text in two files."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from msgspec import Struct

from hermes.learning.memory import text
from hermes.learning.memory.checked import note_checked
from hermes.learning.memory.entries import Entries
from hermes.learning.memory.files import MemoryFiles
from hermes.protocol.errors import UserError
from hermes.protocol.memories import Edit, Memories, Memory, Rendered, Reviewed, Writing
from hermes.protocol.targets import TARGETS, Target


class Draft(Struct):
    """A change in the making. Once it is kept, `kept` has the entries as they are now and `archived` those that made room."""

    entries: Entries
    undoes: int = 0
    reviewed: Reviewed | None = None
    kept: tuple[Memory, ...] = ()
    archived: tuple[Memory, ...] = ()


class Notebook:
    """Memory of one home. Several processes may have it open: each change takes its turn, and takes in what was edited outside."""

    def __init__(
        self, store: Memories, folder: Path, limits: Mapping[Target, int], now: Callable[[], float] = time.time
    ) -> None:
        self.store = store
        self.files = MemoryFiles(folder)
        self.limits = limits
        self._now = now

    @asynccontextmanager
    async def change(self, by: str, session: str = "", item: str = "") -> AsyncIterator[Draft]:
        """Edit `draft.entries` inside; what was done is kept at the end, all of it, or nothing if an error gets out."""
        async with self.files.locked():
            now = self._now()
            was = await self._settled()
            entries = Entries(await self.store.entries(), self.limits, now)
            # A file that is gone altogether was not edited but lost: it is written anew.
            texts: dict[Target, str | None] = {target: self.files.read(target) for target in TARGETS}
            for target, found in texts.items():
                if found is not None and found != was.get(target, ""):
                    entries.take_in(target, was.get(target, ""), found)
            outside, entries.edits = entries.edits, []
            draft = Draft(entries)
            yield draft
            draft.archived = tuple(entries.fit())
            await self._keep(draft, outside, texts, now, by, session, item)

    async def sync(self) -> Entries:
        """Take in what was edited outside; the entries as they are."""
        async with self.change("file"):
            pass
        return Entries(await self.store.entries(), self.limits, self._now())

    async def undo(self, memory: int = 0) -> int:
        """Take the newest change back, or the newest of one entry; its number, or 0 if there is none left."""
        number = await self.store.undoable(memory)
        if not number:
            return 0
        async with self.change("undo") as draft:
            draft.undoes = number
            for change in reversed(await self.store.writing(number)):
                now = draft.entries.get(change.after.id)
                if now is None or (now.state, now.content) != (change.after.state, change.after.content):
                    raise UserError(
                        f"entry {change.after.id} has changed since", f"hermes memory undo {change.after.id}"
                    )
                if change.before is None:
                    draft.entries.retire(now)
                else:
                    draft.entries.put_back(change.before)
        return number

    async def _keep(
        self,
        draft: Draft,
        outside: list[Edit],
        texts: Mapping[Target, str | None],
        now: float,
        by: str,
        session: str,
        item: str,
    ) -> None:
        files = [file for target in TARGETS if (file := self._rendered(target, draft.entries, texts[target]))]
        own = tuple(draft.entries.edits)
        writings = [Writing(at=now, by="file", edits=tuple(outside))] if outside else []
        if own or draft.undoes:
            writings.append(Writing(at=now, by=by, edits=own, session=session, item=item, undoes=draft.undoes))
        changed = [file for file in files if file.text != texts[file.target]]
        if not (writings or changed or draft.reviewed):
            return
        for file in changed:
            await self.files.lay(file.target, file.text)
        kept = await self.store.commit(writings, files, draft.reviewed)
        draft.kept = tuple(kept[len(outside) :])
        for file in changed:
            self.files.settle(file.target)
        await asyncio.to_thread(note_checked, self.files.folder, [file.text for file in files])

    def _rendered(self, target: Target, entries: Entries, current: str | None) -> Rendered | None:
        """What a file should hold: its entries in the order in which it has them, new ones behind."""
        active = [row.content for row in entries.active(target)]
        if current is None and not active:
            return None
        there = text.split(current or "")
        ordered = [*(each for each in there if each in active), *(each for each in active if each not in there)]
        same = list(there) == ordered and current is not None
        return Rendered(target, current or "", current if same and current else text.join(ordered))

    async def _settled(self) -> dict[Target, str]:
        """What each file held when Hermes last wrote it; what a killed process laid beside a file is put there or dropped."""
        was: dict[Target, str] = {}
        for file in await self.store.rendered():
            was[file.target] = file.text
            laid = self.files.laid(file.target)
            if laid is None:
                continue
            if laid == file.text and (self.files.read(file.target) or "") == file.before:
                self.files.settle(file.target)
                continue
            if laid == file.text:
                # Somebody edited the file after the process died that meant to write it.
                was[file.target] = file.before
                await self.store.commit([], [Rendered(file.target, file.before, file.before)])
            self.files.drop(file.target)
        return was
