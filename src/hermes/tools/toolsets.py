"""Toolsets: the names by which people choose what the model can do.

Tools are named as "module:object" and imported only when chosen; the object is a function that makes the tools of one
session.
"""

from collections.abc import Callable, Iterable
from importlib import import_module

from hermes.protocol.errors import UserError
from hermes.protocol.tools import Tool

TOOLS: dict[str, str] = {
    "read_file": "hermes.tools.files:files_tools",
    "write_file": "hermes.tools.files:files_tools",
    "patch": "hermes.tools.patch:patch_tools",
    "search_files": "hermes.tools.search:search_tools",
    "terminal": "hermes.tools.shell:shell_tools",
    "process": "hermes.tools.shell:shell_tools",
    "todo": "hermes.tools.todo:todo_tools",
    "clarify": "hermes.tools.clarify:clarify_tools",
}

FILE = ("read_file", "write_file", "patch", "search_files")
TERMINAL = ("terminal", "process")

TOOLSETS: dict[str, tuple[str, ...]] = {
    "file": FILE,
    "terminal": TERMINAL,
    "todo": ("todo",),
    "clarify": ("clarify",),
    "coding": (*FILE, *TERMINAL, "todo", "clarify"),
    "debugging": (*FILE, *TERMINAL),
    "safe": ("todo", "clarify"),
    "hermes-cli": (*FILE, *TERMINAL, "todo", "clarify"),
    "small": ("read_file", "write_file", "search_files", "terminal"),
    "all": tuple(TOOLS),
    "*": tuple(TOOLS),
}


def tool_names(chosen: Iterable[str]) -> tuple[str, ...]:
    """The tools of toolsets, or single tools, each once and in the table's order: the prompt must not depend on ours."""
    names: set[str] = set()
    for name in chosen:
        if name not in TOOLSETS and name not in TOOLS:
            raise UserError(f"There is no toolset {name!r}.", hint=_hint(name))
        names.update(TOOLSETS.get(name, (name,)))
    return tuple(name for name in TOOLS if name in names)


def make_tools(chosen: Iterable[str]) -> tuple[Tool, ...]:
    """The chosen tools for one session."""
    names = tool_names(chosen)
    makers = dict.fromkeys(TOOLS[name] for name in names)
    made = {tool.spec.name: tool for maker in makers for tool in _load(maker)()}
    return tuple(made[name] for name in names)


def _load(target: str) -> Callable[[], list[Tool]]:
    module, _, name = target.partition(":")
    return getattr(import_module(module), name)


def _hint(name: str) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, [*TOOLSETS, *TOOLS], n=1)
    return f"Did you mean {near[0]}?" if near else f"Choose from {', '.join(TOOLSETS)}."
