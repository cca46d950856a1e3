"""A notebook with a real store and real files, and a tool context whose gate is a function."""

import os
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from hermes.learning.memory.notebook import Notebook
from hermes.protocol.actions import Action, Persist
from hermes.protocol.memories import Memory
from hermes.protocol.targets import Target
from hermes.protocol.tools import ToolContext
from hermes.store.sqlite import SqliteStore

LIMITS: dict[Target, int] = {"memory": 200, "user": 100}


class Clock:
    """A time that stands still until it is moved."""

    def __init__(self, at: float = 1_000_000.0) -> None:
        self.at = at

    def __call__(self) -> float:
        return self.at


@asynccontextmanager
async def notebook(
    folder: Path, clock: Callable[[], float] | None = None, limits: Any = None
) -> AsyncIterator[Notebook]:
    async with SqliteStore(folder / "state.db") as store:
        yield Notebook(store.memories, folder / "memories", limits or LIMITS, clock or Clock())


class Call:
    """As much of a tool context as the memory tool uses; `judge` may raise Denied."""

    session = "s1"

    def __init__(self, judge: Callable[[Persist], None] = lambda action: None) -> None:
        self.asked: list[Action] = []
        self._judge = judge

    async def permit(self, action: Action) -> None:
        assert isinstance(action, Persist)
        self.asked.append(action)
        self._judge(action)


def context(call: Call) -> ToolContext:
    return cast(ToolContext, call)


async def contents(book: Notebook, *states: Any) -> list[str]:
    return [row.content for row in await book.store.entries(*(states or ("active",)))]


def file_of(folder: Path, name: str = "MEMORY.md") -> str:
    return (folder / "memories" / name).read_text()


def edit_outside(folder: Path, change: Callable[[str], str], name: str = "MEMORY.md") -> None:
    """As an editor does it: a new file takes the old one's place."""
    path = folder / "memories" / name
    path.parent.mkdir(exist_ok=True)
    path.with_suffix(".edit").write_text(change(path.read_text() if path.exists() else ""))
    os.replace(path.with_suffix(".edit"), path)


def only(rows: list[Memory]) -> Memory:
    [row] = rows
    return row
