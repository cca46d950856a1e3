"""Editing files by what is quoted from them: one replacement, or a patch over several files."""

import asyncio
from posixpath import normpath
from typing import Annotated, Any, Literal

from msgspec import Meta

from hermes.config import File
from hermes.protocol.errors import ToolError
from hermes.protocol.items import FileChange
from hermes.protocol.tools import Result, Tool, ToolContext
from hermes.tools import hunks
from hermes.tools.declare import tool
from hermes.tools.drafts import Draft, Drafts, edited
from hermes.tools.patchfile import AddFile, DeleteFile, FileEdit, UpdateFile, parse
from hermes.tools.paths import brief, existing, working_folder
from hermes.tools.replacing import replace
from hermes.tools.text import TextFile

V4A = (
    "patch: *** Begin Patch\n*** Update File: path\n@@ a line above\n kept\n-old\n+new\n*** End Patch; "
    "also *** Add File: path with + lines, *** Delete File: path, *** Move to: path below Update File"
)


async def patch(
    ctx: ToolContext,
    mode: Annotated[Literal["replace", "patch"], Meta(description="default replace")] = "replace",
    path: Annotated[str, Meta(description="replace: the file")] = "",
    old_string: Annotated[str, Meta(description="replace: text to find; unique unless replace_all")] = "",
    new_string: Annotated[str, Meta(description="replace: text to put there")] = "",
    replace_all: bool = False,
    patch: Annotated[str, Meta(description=V4A)] = "",
) -> Result:
    """Edit parts of files. mode=replace swaps old_string for new_string in path; small
    differences in whitespace are forgiven. mode=patch changes several files, all or none. Returns the diff."""
    drafts = Drafts(ctx)
    notes: list[str] = []
    if _several(mode, path, patch):
        for edit in parse(patch):
            await _apply(ctx, drafts, edit)
    else:
        notes += await _replace(ctx, drafts, path, (old_string, new_string), replace_all)
    changes = await drafts.save()
    if not changes:
        raise ToolError("The edit leaves every file as it is: nothing was written.")
    folder = await working_folder(ctx)
    lines = [_summary(change, folder) for change in changes]
    return edited("\n".join([*lines, *notes, *drafts.syntax()]), changes)


def patch_tools(settings: File) -> list[Tool]:
    return [tool(patch, kind="edit", toolset="file", title=_title, writes=_writes)]


def _several(mode: str, path: str, patch: str) -> bool:
    """Whether `patch` counts; a model that sends it and forgets the mode means it."""
    return mode == "patch" or bool(patch and not path)


async def _replace(ctx: ToolContext, drafts: Drafts, path: str, strings: tuple[str, str], every: bool) -> list[str]:
    draft, file = await _there(ctx, drafts, path)
    old, new = strings if "\r" in file.text else (text.replace("\r\n", "\n") for text in strings)
    done = await asyncio.to_thread(replace, file.text, old, new, every=every)
    draft.after = _with(file, done.text)
    notes = [f"[replaced {done.count} times]"] if done.count > 1 else []
    return notes if done.strategy == "exact" else [*notes, f"[matched {done.strategy}: check the diff]"]


async def _apply(ctx: ToolContext, drafts: Drafts, edit: FileEdit) -> None:
    match edit:
        case AddFile(path, text):
            draft = await drafts.open(path)
            if draft.after is not None:
                raise ToolError(f"{path} exists already; nothing was changed. Use *** Update File.")
            draft.after = TextFile(text)
        case DeleteFile(path):
            draft, _ = await _there(ctx, drafts, path)
            draft.after = None
        case UpdateFile(path, parts, move_to):
            draft, file = await _there(ctx, drafts, path)
            draft.after = _with(file, await asyncio.to_thread(hunks.apply, file.text, parts, path))
            if move_to:
                await _move(drafts, draft, move_to)


async def _move(drafts: Drafts, source: Draft, path: str) -> None:
    target = await drafts.open(path)
    if target.after is not None:
        raise ToolError(f"{path} exists already; nothing was changed. Move to another name.")
    target.after, source.after = source.after, None
    if source.before is not None:
        target.moved_from = source.moved_from or source.real


async def _there(ctx: ToolContext, drafts: Drafts, path: str) -> tuple[Draft, TextFile]:
    """The draft of a file that must exist by now."""
    draft = await drafts.open(path)
    if draft.after is None:
        if draft.before is None:
            await existing(ctx, path)
        raise ToolError(f"{path} is deleted or moved by the same patch; nothing was changed.")
    return draft, draft.after


def _with(file: TextFile, text: str) -> TextFile:
    return TextFile(text, file.bom, file.crlf, file.utf8)


def _summary(change: FileChange, folder: str) -> str:
    """The diff of what was edited; of a file that came or went, the model knows the text."""
    if change.diff and change.change in ("edited", "moved"):
        return change.diff.rstrip("\n")
    return f"{change.change} {brief(change.path, folder)} (+{change.added} -{change.removed} lines)"


def _writes(args: Any) -> tuple[str, ...] | None:
    if not _several(args.mode, args.path, args.patch):
        return (normpath(args.path),)
    try:
        edits = parse(args.patch)
    except ToolError:
        return None
    moved = [edit.move_to for edit in edits if isinstance(edit, UpdateFile) and edit.move_to]
    return tuple(map(normpath, [*(edit.path for edit in edits), *moved]))


def _title(args: Any) -> str:
    return ", ".join(_writes(args) or ())
