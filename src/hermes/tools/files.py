"""Reading and writing files."""

from posixpath import dirname, normpath
from typing import Annotated

from msgspec import Meta, Struct

from hermes.config import File
from hermes.protocol.errors import StoreError, ToolError
from hermes.protocol.items import Image, Location, Text
from hermes.protocol.terminals import Stat
from hermes.protocol.tools import Result, Tool, ToolContext, said
from hermes.tools.declare import tool
from hermes.tools.drafts import LARGEST, Drafts, edited
from hermes.tools.folder_rules import FolderRules
from hermes.tools.paths import brief, existing, working_folder
from hermes.tools.replacing import numbered
from hermes.tools.text import TextFile, count_lines, decode, is_binary, printable

NOTES = 1_000
"""Characters of a page that are kept for what the model must know to go on."""
LARGEST_IMAGE = 5_000_000
NAMES_SHOWN = 200
REMEMBERED = 1_000
BLOB = "blob:"


class Page(Struct, frozen=True):
    """How much one call may show: characters in all, lines, characters of a line."""

    chars: int
    lines: int
    line: int


class Reads:
    """What a session has read, so that the same unchanged page is not sent twice in a row; `rules` is None to show none."""

    def __init__(self, rules: FolderRules | None, page: Page) -> None:
        self._seen: dict[tuple[str, int, int], Stat] = {}
        self._rules = rules
        self._page = page

    async def read_file(
        self,
        ctx: ToolContext,
        path: Annotated[str, Meta(description="file, folder, image, or blob:<hash> of a long result")],
        offset: Annotated[int, Meta(description="first line, from 1")] = 1,
        limit: Annotated[int, Meta(description="lines, default 500")] = 500,
    ) -> Result:
        """Read a text file as numbered lines "N|text" (the "N|" is not part of the file), or look at an image."""
        offset, limit = max(1, offset), max(1, limit)
        if path.startswith(BLOB):
            return await self._kept(ctx, path, offset, limit)
        real, stat = await existing(ctx, path)
        if stat.kind == "folder":
            return Result(parts=(await _folder(ctx, real), *await self._rules_of(ctx, real, real)), source=real)
        if stat.kind != "file":
            raise ToolError(f"{path} is a device, pipe or socket; use terminal if you need it.")
        # Given once: what was read may have left the model's view since, and the next call shows it again.
        if self._seen.pop((real, offset, limit), None) == stat:
            return said(f"[{path} is unchanged since you read it; call again if that text is no longer in view]")
        data = await ctx.files.read(real, LARGEST)
        shown = await _shown(ctx, path, data, offset, limit, self._page)
        if len(self._seen) >= REMEMBERED:
            self._seen.clear()
        # A file of the kernel has no size, and its times say nothing about its content.
        if stat.size:
            self._seen[real, offset, limit] = stat
        parts = (*shown, *await self._rules_of(ctx, dirname(real), real))
        return Result(parts=parts, locations=(Location(real, offset),), source=real)

    async def _kept(self, ctx: ToolContext, path: str, offset: int, limit: int) -> Result:
        """A result that was too long to be shown whole. Nobody can tell any more where it came from: untrusted."""
        try:
            data = await ctx.blob(path.removeprefix(BLOB))
        except StoreError as error:
            raise ToolError(f"{path}: {error}") from error
        parts = await _shown(ctx, path, data[:LARGEST], offset, limit, self._page)
        return Result(parts=parts, source=path, trust="untrusted")

    async def _rules_of(self, ctx: ToolContext, folder: str, read: str) -> tuple[Text, ...]:
        return await self._rules.of(ctx, folder, read) if self._rules else ()


async def write_file(
    ctx: ToolContext,
    path: Annotated[str, Meta(description="absolute, or relative to the working folder")],
    content: Annotated[str, Meta(description="the whole new text")],
) -> Result:
    """Create a file with its folders, or replace it whole."""
    if count_lines(content) > 1 and numbered(content):
        raise ToolError("content carries the line numbers of read_file; send the text without them.")
    drafts = Drafts(ctx)
    draft = await drafts.open(path, replace=True)
    draft.after = _in_the_style_of(draft.before, content)
    changes = await drafts.save()
    if not changes:
        return said(f"{draft.name} already holds exactly this.")
    [change] = changes
    line = f"{change.change} {draft.name} (+{change.added} -{change.removed} lines)"
    return edited("\n".join([line, *drafts.syntax()]), changes)


def files_tools(settings: File, folder_rules: bool = True) -> list[Tool]:
    """read_file and write_file for one session, with or without the rules of the folders that it reads in."""
    shown = settings.tool_output
    page = Page(settings.file_read_max_chars, shown.max_lines, shown.max_line_length)
    reads = Reads(FolderRules() if folder_rules else None, page)
    return [
        tool(reads.read_file, kind="read", toolset="file", effect=False, title=lambda args: args.path, cap=page.chars),
        tool(
            write_file,
            kind="edit",
            toolset="file",
            title=lambda args: args.path,
            writes=lambda args: (normpath(args.path),),
        ),
    ]


def _in_the_style_of(old: TextFile | None, content: str) -> TextFile:
    """New content with the byte order mark and the line endings that the file has, which read_file does not show."""
    new = decode(content.encode())
    if old is None:
        return new
    return TextFile(new.text, new.bom or old.bom, new.crlf or (old.crlf and "\r" not in new.text))


async def _shown(
    ctx: ToolContext, path: str, data: bytes, offset: int, limit: int, page: Page
) -> tuple[Text | Image, ...]:
    if media_type := _image_type(data):
        if len(data) > LARGEST_IMAGE:
            raise ToolError(f"{path} is an image above 5 MB; make a smaller copy with terminal and read that.")
        name = path.rpartition("/")[2]
        blob = await ctx.keep(data, media_type)
        return Text(f"[image {name}, {media_type}, {len(data):,} bytes]"), Image(blob, media_type, name)
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise ToolError(f"{path} is UTF-16 text; convert it with terminal: iconv -f UTF-16 -t UTF-8.")
    if is_binary(data):
        raise ToolError(f"{path} is binary; look at it with terminal: file, strings, xxd, pdftotext, unzip -l.")
    return (Text(_page(path, data, offset, min(limit, page.lines), page)),)


def _page(path: str, data: bytes, offset: int, limit: int, page: Page) -> str:
    """The numbered lines of one page, and what the model must know to go on."""
    file = decode(data)
    lines = printable(file.text).split("\n")[: count_lines(file.text)]
    if not lines:
        return "[the file is empty]"
    if offset > len(lines):
        raise ToolError(f"{path} has {len(lines)} lines; offset {offset} is behind its end.")
    shown: list[str] = []
    length, most = 0, page.chars - NOTES
    longest = min(page.line, most // 2)
    for number, line in enumerate(lines[offset - 1 : offset - 1 + limit], offset):
        cut = len(line) - longest
        text = f"{number}|{line}" if cut <= 0 else f"{number}|{line[:longest]} [{cut} more characters]"
        length += len(text) + 1
        if length > most:
            break
        shown.append(text)
    last = offset + len(shown) - 1
    if last < len(lines):
        shown.append(f"[lines {offset} to {last} of {len(lines)}; continue with offset={last + 1}]")
    elif len(data) == LARGEST:
        shown.append("[only the first 10 MB can be read here; use terminal for the rest]")
    if not file.utf8:
        shown.append("[some bytes are not UTF-8 and shown as \ufffd; patch keeps them, write_file would not]")
    return "\n".join(shown)


async def _folder(ctx: ToolContext, real: str) -> Text:
    names = await ctx.files.names(real)
    more = f"\n[{len(names) - NAMES_SHOWN} more]" if len(names) > NAMES_SHOWN else ""
    listing = "\n".join(names[:NAMES_SHOWN]) or "[empty]"
    hint = "[a folder; search_files with target=files finds files below it]"
    name = brief(real, await working_folder(ctx))
    return Text(f"{name}:\n{listing}{more}\n{hint}")


def _image_type(data: bytes) -> str:
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    starts = {b"\x89PNG\r\n\x1a\n": "image/png", b"\xff\xd8\xff": "image/jpeg", b"GIF8": "image/gif"}
    return next((kind for start, kind in starts.items() if data.startswith(start)), "")
