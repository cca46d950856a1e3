"""Paths as a model writes them: found, or missed with the names that it may have meant."""

import posixpath

from hermes.protocol.errors import TerminalError, ToolError
from hermes.protocol.terminals import Stat
from hermes.protocol.tools import ToolContext

NAMES_SHOWN = 10


async def existing(ctx: ToolContext, path: str) -> tuple[str, Stat]:
    """The real path and what is there; a ToolError with suggestions if nothing is."""
    real = await resolved(ctx, path)
    stat = await ctx.files.stat(real)
    if stat is None:
        raise ToolError(f"{path} does not exist. {await _instead(ctx, real)}".rstrip())
    return real, stat


async def resolved(ctx: ToolContext, path: str) -> str:
    if not path.strip() or "\0" in path:
        raise ToolError("path is empty or has a NUL in it; name a file.")
    return await ctx.files.resolve(path)


async def working_folder(ctx: ToolContext) -> str:
    """The terminal's folder with every link followed, as real paths have it."""
    return await ctx.files.resolve(".")


def brief(real: str, folder: str) -> str:
    """A real path as seen from a folder, whole if it lies elsewhere."""
    return "." if real == folder else real.removeprefix(folder.rstrip("/") + "/")


async def _instead(ctx: ToolContext, real: str) -> str:
    """What to try: the names most like the first part of the path that is missing."""
    from difflib import get_close_matches

    folder, name = posixpath.split(real)
    while folder != "/" and await ctx.files.stat(folder) is None:
        folder, name = posixpath.split(folder)
    try:
        names = await ctx.files.names(folder)
    except (ToolError, TerminalError):
        return ""
    by_lower = {found.rstrip("/").lower(): found for found in names}
    close = get_close_matches(name.lower(), by_lower, n=3)
    where = brief(folder, await working_folder(ctx))
    if close:
        near = (posixpath.normpath(posixpath.join(where, by_lower[found])) for found in close)
        return f"Did you mean {' or '.join(near)}?"
    listed = ", ".join(names[:NAMES_SHOWN]) + (", ..." if len(names) > NAMES_SHOWN else "")
    return f"{where} holds: {listed}" if names else f"{where} is empty."
