"""Finding text in files, and files by name."""

from collections import Counter
from collections.abc import Iterable
from typing import Annotated, Literal

from msgspec import Meta

from hermes.config import File
from hermes.protocol.terminals import Match, Search
from hermes.protocol.tools import Result, Tool, ToolContext, said
from hermes.tools.declare import tool
from hermes.tools.paths import brief, existing, working_folder

MOST_LINES = 1_000
MOST_CONTEXT = 20
MOST_MATCHES = 10_000
LONGEST_LINE = 500


async def search_files(
    ctx: ToolContext,
    pattern: Annotated[str, Meta(description="regular expression, or a glob if target=files")],
    target: Annotated[
        Literal["content", "files"], Meta(description="search in files (default) or their names")
    ] = "content",
    path: Annotated[str, Meta(description="folder or file, default the working folder")] = ".",
    file_glob: Annotated[str, Meta(description='only in these files, e.g. "*.py"')] = "",
    limit: Annotated[int, Meta(description="default 50")] = 50,
    offset: Annotated[int, Meta(description="results to skip")] = 0,
    output_mode: Literal["content", "files_only", "count"] = "content",
    context: Annotated[int, Meta(description="lines around each match")] = 0,
) -> Result:
    """Search file contents or find files by name. It skips what git ignores."""
    real, _ = await existing(ctx, path)
    folder = await working_folder(ctx)
    limit, offset = min(max(1, limit), MOST_LINES), max(0, offset)
    if target == "files":
        glob = pattern if set("*?[{") & set(pattern) else f"*{pattern}*"
        found = await ctx.files.search(Search(pattern=glob, path=real, target="files"), offset + limit + 1)
        return said(_page([brief(match.path, folder) for match in found], offset, limit, "file"), source=real)
    context = min(max(0, context), MOST_CONTEXT) if output_mode == "content" else 0
    search = Search(pattern=pattern, path=real, glob=file_glob, context=context)
    if output_mode == "content":
        found = await ctx.files.search(search, offset + limit + 1)
        return said(_lines(found, folder, offset, limit), source=real)
    found = await ctx.files.search(search, MOST_MATCHES)
    counts = Counter(brief(match.path, folder) for match in found)
    rows = [name if output_mode == "files_only" else f"{name}: {count}" for name, count in counts.items()]
    text = _page(rows, offset, limit, "match")
    if len(found) == MOST_MATCHES:
        text += f"\n[only the first {MOST_MATCHES:,} matches were looked at]"
    return said(text, source=real)


def search_tools(settings: File) -> list[Tool]:
    return [
        tool(search_files, kind="search", toolset="file", effect=False, title=lambda args: args.pattern),
    ]


def _page(rows: list[str], offset: int, limit: int, what: str) -> str:
    shown = rows[offset : offset + limit]
    if not shown:
        return f"[no {what} found]" if not rows else f"[no more: there are only {len(rows)}]"
    if len(rows) > offset + limit:
        shown.append(_more(offset + limit))
    return "\n".join(shown)


def _lines(found: Iterable[Match], folder: str, offset: int, limit: int) -> str:
    """Matches under the name of their file: `12:` before a line that fits, `13-` before one of its context."""
    shown: list[str] = []
    hits = 0
    name, last = "", 0
    for match in found:
        hits += match.hit
        if hits > offset + limit:
            shown.append(_more(offset + limit))
            break
        if hits <= offset and (match.hit or hits < offset):
            continue
        if match.path != name:
            name = match.path
            shown.append(brief(name, folder))
        elif match.line > last + 1 and not match.hit:
            shown.append("--")
        last = match.line
        text = match.text.rstrip("\r\n")
        text = text if len(text) <= LONGEST_LINE else f"{text[:LONGEST_LINE]} [{len(text) - LONGEST_LINE} more]"
        shown.append(f"{match.line}{':' if match.hit else '-'}{text}")
    if not shown:
        return "[no match found]" if not hits else f"[no more: there are only {hits}]"
    return "\n".join(shown)


def _more(offset: int) -> str:
    return f"[there are more: continue with offset={offset}]"
