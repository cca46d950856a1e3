"""Rules that a project keeps for one of its folders: shown once, with the first thing that is read there."""

import posixpath

from hermes.protocol.errors import TerminalError, ToolError
from hermes.protocol.items import Text
from hermes.protocol.tools import ToolContext
from hermes.tools.paths import brief, working_folder
from hermes.tools.text import decode, is_binary, printable

NAMES = ("AGENTS.md", "CLAUDE.md", ".cursorrules")
LONGEST = 8_000
MOST_FOLDERS = 5
BYTES_A_CHARACTER = 4


class FolderRules:
    """The folders below the one that a session began in, whose own rules stand in the prompt, and which of them it has seen."""

    def __init__(self) -> None:
        self._root: str | None = None
        self._seen: set[str] = set()

    async def of(self, ctx: ToolContext, folder: str, read: str) -> tuple[Text, ...]:
        """The rules that hold in a folder, from the outermost to its own, as far as they are new.

        `read` is what is being shown anyway: if it holds rules, they are not shown twice.
        """
        if self._root is None:
            self._root = (await working_folder(ctx)).rstrip("/")
        return tuple([Text(text) for new in self._new(folder) if (text := await self._text(ctx, new, read))])

    def _new(self, folder: str) -> list[str]:
        new: list[str] = []
        while len(new) < MOST_FOLDERS and folder.startswith(f"{self._root}/") and folder not in self._seen:
            new.insert(0, folder)
            folder = posixpath.dirname(folder)
        # Before anything is awaited: calls of one step read together.
        self._seen.update(new)
        return new

    async def _text(self, ctx: ToolContext, folder: str, read: str) -> str:
        for name in NAMES:
            path = posixpath.join(folder, name)
            if path == read:
                return ""
            if text := await _content(ctx, path):
                where = brief(folder, self._root or "/")
                more = f"\n[read {where}/{name} for the rest]" if len(text) > LONGEST else ""
                return f"[rules of this project for {where}, from {name}]\n{text[:LONGEST]}{more}"
        return ""


async def _content(ctx: ToolContext, path: str) -> str:
    """The text of a file, "" if there is none or a link, or if it must not be read: nobody asked for it by name."""
    try:
        stat = await ctx.files.stat(path)
        if stat is None or stat.kind != "file":
            return ""
        data = await ctx.files.read(path, LONGEST * BYTES_A_CHARACTER)
    except (ToolError, TerminalError):
        return ""
    return "" if is_binary(data) else printable(decode(data).text).strip()
