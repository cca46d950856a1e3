"""The top of a page: which Hermes this is, which model, in which folder, and how its git stands."""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path

from msgspec import Struct
from textual.content import Content

import hermes
from hermes.tui.blocks import Block, View
from hermes.tui.skins import Skin
from hermes.tui.wrapping import cut, styled

PATIENCE = 3.0
"""Seconds that git has to answer."""


class Git(Struct, frozen=True):
    """What is checked out, and how many files differ from it."""

    branch: str
    changed: int = 0

    def __str__(self) -> str:
        return f"{self.branch}, {self.changed} changed" if self.changed else self.branch


class Banner(Block):
    """What is known so far; the model and git come a moment after the first paint."""

    def __init__(self, skin: Skin, folder: str, home: str, *, compact: bool) -> None:
        super().__init__()
        self.skin = skin
        self.model = self.session = ""
        self.git: Git | None = None
        self._compact = compact
        self._home = home
        self.folder = folder

    def lines(self, width: int, view: View) -> list[Content]:
        skin = self.skin
        name = skin.banner_logo or skin.branding.agent_name
        head = styled(f"{name} {hermes.__version__}", "bold $hermes-title")
        where = _short(self.folder, self._home) + (f" ({self.git})" if self.git else "")
        facts = [fact for fact in (self.model, where, self.session) if fact]
        if self._compact:
            return [cut(head + styled(f" · {' · '.join(facts)}", "$hermes-dim"), width)]
        hero = [cut(styled(line, "$accent"), width) for line in skin.banner_hero.splitlines()]
        lines = [cut(styled(" · ".join(facts[:2]), "$foreground"), width - 2)]
        lines += [cut(styled(fact, "$hermes-dim"), width - 2) for fact in (*facts[2:], skin.branding.welcome)]
        bar = styled("┃ ", "$hermes-border")
        return [*hero, bar + cut(head, width - 2), *(bar + line for line in lines)]


async def git_state(folder: str, env: Mapping[str, str]) -> Git | None:
    """How git stands in a folder; None where there is none, or it takes too long."""
    try:
        git = await asyncio.create_subprocess_exec(
            "git",
            *("-c", "core.fsmonitor=false", "-c", "core.hooksPath=/dev/null"),  # a project's settings may name programs
            "status",
            "--porcelain",
            "--branch",
            cwd=folder,
            env={**env, "GIT_OPTIONAL_LOCKS": "0"},
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError:
        return None
    try:
        out, _ = await asyncio.wait_for(git.communicate(), PATIENCE)
    except TimeoutError:
        git.kill()
        await git.wait()
        return None
    head, *rest = out.decode(errors="replace").splitlines() or [""]
    branch = head.removeprefix("## ").removeprefix("No commits yet on ").partition("...")[0]
    return Git(branch, len(rest)) if branch else None


def _short(folder: str, home: str) -> str:
    """A folder as people write it."""
    path = Path(folder)
    return os.path.join("~", path.relative_to(home)) if home and path.is_relative_to(home) else folder
