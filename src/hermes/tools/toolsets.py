"""Toolsets: the names by which people choose what the model can do.

Tools are named as "module:object" and imported only when chosen; the object is a function from settings to the tools of one
session. A name that is not in the table may be an entry point of the group hermes.tools.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType

from hermes import plugins
from hermes.config import File
from hermes.protocol.errors import UserError
from hermes.protocol.tools import Tool

Maker = Callable[[File], Sequence[Tool]]

TOOLS: dict[str, str] = {
    "read_file": "hermes.tools.files:files_tools",
    "write_file": "hermes.tools.files:files_tools",
    "patch": "hermes.tools.patch:patch_tools",
    "search_files": "hermes.tools.search:search_tools",
    "terminal": "hermes.tools.shell:shell_tools",
    "process": "hermes.tools.shell:shell_tools",
    "todo": "hermes.tools.todo:todo_tools",
    "clarify": "hermes.tools.clarify:clarify_tools",
    "memory": "hermes.learning.memory.tool:memory_tools",
    # Those of hermes.app can only be described without one: who has one hands in its own makers.
    "session_search": "hermes.app.recall:recall_tools",
    "context_expand": "hermes.app.recall:recall_tools",
    "context_grep": "hermes.app.recall:recall_tools",
    "skills_list": "hermes.app.skills:skill_tools",
    "skill_search": "hermes.app.skills:skill_tools",
    "skill_view": "hermes.app.skills:skill_tools",
    "skill_manage": "hermes.app.skills:skill_tools",
}

FILE = ("read_file", "write_file", "patch", "search_files")
TERMINAL = ("terminal", "process")
SKILLS = ("skills_list", "skill_search", "skill_view", "skill_manage")
RECALL = ("session_search", "context_expand", "context_grep")

TOOLSETS: dict[str, tuple[str, ...]] = {
    "file": FILE,
    "terminal": TERMINAL,
    "todo": ("todo",),
    "clarify": ("clarify",),
    "skills": SKILLS,
    "memory": ("memory",),
    "session_search": ("session_search",),
    "context": ("context_expand", "context_grep"),
    "coding": (*FILE, *TERMINAL, "todo", "clarify"),
    "debugging": (*FILE, *TERMINAL),
    "safe": ("todo", "clarify"),
    "hermes-cli": (*FILE, *TERMINAL, "todo", "clarify", "memory", *RECALL, *SKILLS),
    "small": ("read_file", "write_file", "terminal"),
    "all": tuple(TOOLS),
    "*": tuple(TOOLS),
}


def tool_names(chosen: Iterable[str]) -> tuple[str, ...]:
    """The tools of toolsets, or single tools, each once and in the table's order: the prompt must not depend on ours.

    A name behind a minus takes away what the others bring: hermes-cli, -terminal.
    """
    names: set[str] = set()
    taken: set[str] = set()
    for entry in chosen:
        name = entry.removeprefix("-")
        if name not in TOOLSETS and plugins.find("tools", name, TOOLS) is None:
            raise UserError(f"There is no toolset {name!r}.", hint=_hint(name))
        (taken if entry.startswith("-") else names).update(TOOLSETS.get(name, (name,)))
    names -= taken
    return (*(name for name in TOOLS if name in names), *sorted(names - TOOLS.keys()))


def make_tools(
    chosen: Iterable[str], settings: File | None = None, own: Mapping[str, Maker] = MappingProxyType({})
) -> tuple[Tool, ...]:
    """The chosen tools for one session; `own` makes those that it names, in place of what the table says."""
    names = tool_names(chosen)
    makers = dict.fromkeys(own.get(name) or plugins.find("tools", name, TOOLS) or "" for name in names)
    made: dict[str, Tool] = {}
    for maker in makers:
        make = plugins.load(maker) if isinstance(maker, str) else maker
        made |= {tool.spec.name: tool for tool in make(settings or File())}
    return tuple(made[name] for name in names)


def _hint(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, [*TOOLSETS, *TOOLS], n=1)
    return f"Did you mean {near[0]}?" if near else f"Choose from {', '.join(TOOLSETS)}."
