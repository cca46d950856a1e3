"""A skill as a model reads it: its text with variables filled in, and a list of its files."""

import os
import re
from collections.abc import Awaitable, Callable
from pathlib import Path

from hermes.learning.skills.discover import Found
from hermes.learning.skills.parse import FILE

Run = Callable[[str], Awaitable[str]]
MOST_LISTED = 40
_inline = re.compile(r"!`([^`\n]+)`")


async def loaded(one: Found, session: str, *, fill: bool = True, run: Run | None = None) -> str:
    """The text of a skill. `run` gives the output of a command that stands in it as !`command`; without it they stay."""
    body = one.skill.body.strip()
    if fill:
        body = body.replace("${HERMES_SKILL_DIR}", str(one.folder)).replace("${HERMES_SESSION_ID}", session)
    # What Hermes wrote or fetched has not been read by the person line by line: it runs nothing by being loaded.
    if run is not None and one.origin in ("user", "external"):
        body = await _ran(body, run)
    parts = [f"# Skill: {one.name}\n\n{body}"]
    if files := support_files(one.folder):
        parts.append(f"Files of this skill, in {one.folder} (skill_view with file_path shows one): {', '.join(files)}")
    if one.skill.variables:
        parts.append(f"It needs these variables: {', '.join(each.name for each in one.skill.variables)}")
    return "\n\n".join(parts)


def support_files(folder: Path) -> list[str]:
    """The files beside the SKILL.md, as many as it makes sense to list."""
    found: list[str] = []
    for where, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name != "node_modules")
        paths = (Path(where, name).relative_to(folder).as_posix() for name in sorted(names) if not name.startswith("."))
        found += [path for path in paths if path != FILE]
        if len(found) > MOST_LISTED:
            return [*found[:MOST_LISTED], "and more"]
    return found


async def _ran(body: str, run: Run) -> str:
    pieces: list[str] = []
    end = 0
    for match in _inline.finditer(body):
        pieces += [body[end : match.start()], (await run(match[1])).strip()]
        end = match.end()
    return "".join([*pieces, body[end:]])
