"""The plan that the model keeps for a longer task."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from hermes.config import File
from hermes.protocol.errors import ToolError
from hermes.protocol.items import PlanEntry
from hermes.protocol.tools import Result, Tool, ToolContext, said
from hermes.tools.declare import tool

Status = Literal["pending", "in_progress", "completed", "cancelled"]
SIGNS: dict[Status, str] = {"pending": " ", "in_progress": ">", "completed": "x", "cancelled": "-"}


class Entry(Struct, frozen=True, forbid_unknown_fields=True):
    id: str
    content: str = ""
    status: Status | None = None


async def todo(
    ctx: ToolContext,
    todos: Annotated[tuple[Entry, ...] | None, Meta(description="leave out to read the list")] = None,
    merge: Annotated[bool, Meta(description="change the entries with these ids, keep the others")] = False,
) -> Result:
    """Keep the plan of a task of three or more steps: one entry in_progress at a time, completed as soon as it is."""
    if todos is None:
        return said(_shown(ctx.plan), trust="trusted")
    plan = _planned(ctx.plan if merge else (), todos)
    ctx.set_plan(plan)
    return said(_shown(plan), trust="trusted")


def todo_tools(settings: File) -> list[Tool]:
    return [tool(todo, kind="think", toolset="todo")]


def _planned(plan: tuple[PlanEntry, ...], todos: tuple[Entry, ...]) -> tuple[PlanEntry, ...]:
    ids = [entry.id for entry in todos]
    if twice := sorted({name for name in ids if ids.count(name) > 1}):
        raise ToolError(f"The plan is unchanged: id {twice[0]!r} is there twice.")
    entries = {entry.id: entry for entry in plan}
    for new in todos:
        old = entries.get(new.id)
        content = new.content.strip() or (old.content if old else "")
        if not content or not new.id.strip():
            raise ToolError(f"The plan is unchanged: entry {new.id!r} needs an id and a content.")
        entries[new.id] = PlanEntry(new.id, content, new.status or (old.status if old else "pending"))
    return tuple(entries.values())


def _shown(plan: tuple[PlanEntry, ...]) -> str:
    if not plan:
        return "[the plan is empty]"
    done = sum(entry.status == "completed" for entry in plan)
    lines = [f"[{SIGNS[entry.status]}] {entry.id}: {entry.content}" for entry in plan]
    return "\n".join([*lines, f"[{done} of {len(plan)} completed]"])
