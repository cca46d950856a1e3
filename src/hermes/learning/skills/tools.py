"""What a model can do with skills: list, search, read, write."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec.structs import replace

from hermes.learning.skills.discover import Found
from hermes.learning.skills.parse import FILE, parse
from hermes.learning.skills.shelf import Kit, Shelf
from hermes.protocol.actions import Persist
from hermes.protocol.errors import ToolError, UserError
from hermes.protocol.items import Trust
from hermes.protocol.tools import Result, ToolContext, said

if TYPE_CHECKING:  # most sessions only have an index of skills, and need nothing of these
    from hermes.learning.skills.birth import Kept, Workshop
    from hermes.learning.skills.evidence import Evidence
    from hermes.learning.skills.life import Life
    from hermes.learning.skills.load import Run
    from hermes.learning.skills.search import Finder

FOUND = 5
LISTED = 60
DESCRIPTION = 200
NOBODYS = ("user", "agent", "bundled")
"""Whose skills are as good as the person's own words."""
Action = Literal["create", "patch", "edit", "delete", "write_file", "remove_file"]
Substitute = Callable[[str, str, str, bool], str]
Shown = Callable[[str], Awaitable[tuple[int, "Evidence"]]]


class Guard(Protocol):
    """Keeps paths inside the folder of a skill."""

    def check(self, path: str) -> None:
        """ToolError if no file of this path may be written."""
        ...

    def read(self, folder: Path, path: str) -> bytes:
        """A file beneath the folder; an error if the path, or a link on its way, leads out of it."""
        ...


class SkillTools:
    """The tools of one session. `kit` tells what it can do, `shown` its current turn and what that shows; `run` runs what
    stands in a skill as !`command`, where the settings allow it."""

    def __init__(
        self,
        shelf: Shelf,
        workshop: "Callable[[], Workshop]",
        life: "Callable[[], Life]",
        *,
        kit: Callable[[], Kit],
        guard: Guard,
        substitute: Substitute,
        shown: Shown,
        fill: bool = True,
        inline_shell: bool = False,
    ) -> None:
        self._shelf = shelf
        self._workshop = workshop
        self._life = life
        self._kit = kit
        self._guard = guard
        self._substitute = substitute
        self._shown = shown
        self._fill = fill
        self._inline_shell = inline_shell
        self._finder: Finder | None = None

    async def skills_list(self, ctx: ToolContext, category: str = "") -> Result:
        """List skills."""
        there = [one for one in self._shelf.usable(self._kit()) if category.lower() in ("", one.skill.category.lower())]
        if not there:
            return said("[no skills]", trust="trusted")
        lines = [_line(one) for one in there[:LISTED]]
        more = [f"[{len(there) - LISTED} more: skill_search finds them]"] if len(there) > LISTED else []
        return said("\n".join([*lines, *more]), trust="trusted")

    async def skill_search(self, ctx: ToolContext, query: str) -> Result:
        """Find skills for a task."""
        from hermes.learning.skills.search import Finder

        self._finder = self._finder or Finder()
        there = {one.name: one for one in self._shelf.usable(self._kit())}
        best = self._finder.search(query, [one.skill for one in there.values()], FOUND)
        lines = [_line(there[skill.name]) for skill in best]
        return said("\n".join(lines) or f"[nothing fits among {len(there)} skills]", trust="trusted")

    async def skill_view(self, ctx: ToolContext, name: str, file_path: str = "") -> Result:
        """Read a skill, or one of its files."""
        from hermes.learning.skills.load import loaded

        # What was changed on the disk since the session began must not be read as if it were allowed.
        await self._shelf.refresh()
        one = self._get(name)
        if not file_path:
            run = self._runner(ctx) if self._inline_shell else None
            text = await loaded(one, ctx.session, fill=self._fill, run=run)
        else:
            text = _decoded(self._guard.read(one.folder, file_path), file_path)
        trust: Trust = "trusted" if one.origin in NOBODYS else "workspace"
        return said(text, source=f"skill:{one.name}", trust=trust, title=one.name)

    async def skill_manage(
        self,
        ctx: ToolContext,
        action: Action,
        name: str,
        content: str = "",
        category: str = "",
        old_string: str = "",
        new_string: str = "",
        replace_all: bool = False,
        file_path: str = "",
        file_content: str = "",
    ) -> Result:
        """Keep how a kind of task is done: after it worked (5 calls or more, an error overcome, or the person's wish) create or
        edit (content: a whole SKILL.md), patch at once what proved wrong, files in references/ templates/ scripts/ assets/.
        Nobody sees it before a trial."""
        from hermes.learning.skills.birth import Source

        path = file_path or FILE
        self._guard.check(path)
        await ctx.permit(Persist(f"skill {name}", content or new_string or file_content, "draft"))
        try:
            await self._shelf.refresh()
            turn, evidence = await self._shown(ctx.session)
            source = Source("agent", ctx.session, turn, action)
            if action == "create":
                skill = parse(content, name)
                skill = replace(skill, category=category or skill.category)
                return _told(await self._workshop().create(skill, source, evidence))
            if action == "delete":
                return said(await self._life().archive(name, "the model took it away"), trust="trusted")
            files = dict(await self._workshop().files(name))
            match action:
                case "edit":
                    files[FILE] = content.encode()
                case "patch":
                    text = _decoded(files.get(path, b""), path)
                    files[path] = self._substitute(text, old_string, new_string, replace_all).encode()
                case "write_file":
                    files[path] = file_content.encode()
                case "remove_file":
                    if files.pop(path, None) is None:
                        raise ToolError(f"{name} has no file {path}.")
            return _told(await self._workshop().change(name, files, source))
        except UserError as error:
            raise _as_result(error) from error

    def _get(self, name: str) -> Found:
        try:
            return self._shelf.get(name)
        except UserError as error:
            raise _as_result(error) from error

    def _runner(self, ctx: ToolContext) -> "Run":
        async def run(command: str) -> str:
            return (await ctx.terminal.run(command, timeout=30)).output

        return run


def _as_result(error: UserError) -> ToolError:
    return ToolError(f"{error} ({error.hint})" if error.hint else str(error))


def _line(one: Found) -> str:
    told = one.skill.description
    told = told if len(told) <= DESCRIPTION else f"{told[:DESCRIPTION]}…"
    return f"{one.skill.category}/{one.name}: {told}".removeprefix("/")


def _decoded(data: bytes, path: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise ToolError(f"{path} is no text ({len(data):,} bytes).") from None


def _told(kept: "Kept") -> Result:
    return said(kept.text, trust="trusted", title=f"{kept.outcome} {kept.skill}")
