"""Files that a call is about to change: all edits are made in memory before the first file is written."""

import asyncio

from msgspec import Struct

from hermes.protocol.errors import ToolError
from hermes.protocol.items import FileChange, Location
from hermes.protocol.tools import Result, ToolContext, said
from hermes.tools.changes import changed
from hermes.tools.paths import brief, resolved, working_folder
from hermes.tools.syntax import problem_after
from hermes.tools.text import TextFile, decode, encode, is_binary

LARGEST = 10_000_000
UNREADABLE = TextFile("", utf8=False)


class Draft(Struct):
    """A file as it is (`before`) and as it shall be (`after`); None is a file that is not there."""

    real: str
    name: str
    before: TextFile | None
    after: TextFile | None
    moved_from: str = ""


class Drafts:
    """The files of one call, by their real paths: a file that is named twice is one draft."""

    def __init__(self, ctx: ToolContext) -> None:
        self._ctx = ctx
        self._by_path: dict[str, Draft] = {}

    async def open(self, path: str, *, replace: bool = False) -> Draft:
        """The draft of a file; with `replace` its old content does not matter and may be anything."""
        real = await resolved(self._ctx, path)
        if real not in self._by_path:
            before = await self._content(real, path, replace)
            name = brief(real, await working_folder(self._ctx))
            self._by_path[real] = Draft(real, name, before, before)
        return self._by_path[real]

    async def save(self) -> tuple[FileChange, ...]:
        """Write all drafts; if one cannot be written, those before it are put back."""
        drafts = [draft for draft in self._by_path.values() if draft.after != draft.before or draft.moved_from]
        drafts.sort(key=lambda draft: draft.after is None)
        written: list[Draft] = []
        try:
            for draft in drafts:
                await self._store(draft.real, draft.after)
                written.append(draft)
        except Exception:
            # Anything, for the files may be a plugin's, and it goes on to the caller. Not a cancellation: putting back passes
            # the gate, which could ask the person who has just said stop; the checkpoint has what was there.
            for draft in reversed(written):
                await self._store(draft.real, draft.before)
            raise
        shown = [draft for draft in drafts if not self._moved_away(draft)]
        return tuple([await asyncio.to_thread(self._change, draft) for draft in shown])

    def syntax(self) -> list[str]:
        """What the edits did to the syntax of the files."""
        notes = [
            problem_after(draft.name, draft.before.text if draft.before else None, draft.after.text)
            for draft in self._by_path.values()
            if draft.after and draft.after.utf8
        ]
        return [note for note in notes if note]

    def _change(self, draft: Draft) -> FileChange:
        source = self._by_path[draft.moved_from] if draft.moved_from else draft
        return changed(
            draft.real,
            source.before,
            draft.after,
            name=draft.name,
            old_name=source.name,
            moved=source is not draft,
        )

    def _moved_away(self, draft: Draft) -> bool:
        return draft.after is None and any(other.moved_from == draft.real for other in self._by_path.values())

    async def _content(self, real: str, path: str, replace: bool) -> TextFile | None:
        stat = await self._ctx.files.stat(real)
        if stat is None:
            return None
        if stat.kind != "file":
            raise ToolError(f"{path} is a {stat.kind if stat.kind == 'folder' else 'device or pipe'}, not a file.")
        data = await self._ctx.files.read(real, LARGEST + 1)
        if len(data) <= LARGEST and not is_binary(data):
            return decode(data)
        if replace:
            return UNREADABLE
        raise ToolError(f"{path} is binary or larger than 10 MB; change it with terminal.")

    async def _store(self, real: str, file: TextFile | None) -> None:
        if file is None:
            await self._ctx.files.remove(real)
        else:
            await self._ctx.files.write(real, encode(file))


def edited(text: str, changes: tuple[FileChange, ...]) -> Result:
    """The result of a call that changed files."""
    return said(text, files=changes, locations=tuple(Location(change.path) for change in changes))
