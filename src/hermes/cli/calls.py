"""A tool call in lines: what it was about, how it ended, and the beginning of what came of it."""

import msgspec

from hermes.cli.pen import Pen, Style
from hermes.protocol.items import FileChange, PlanEntry, ToolCall, text_of

INDENT = "    "
OUTPUT_SHOWN, DIFF_SHOWN = 5, 20
QUIET = ("read", "search", "think")
"""Kinds of calls whose result says nothing to a person unless it failed."""
MARKS = {"pending": "☐", "in_progress": "▸", "completed": "☑", "cancelled": "☒"}
DIFF: dict[str, Style] = {"+": "green", "-": "red", "@": "cyan"}


def draw_call(pen: Pen, call: ToolCall) -> None:
    """A call that is over."""
    bad = call.status != "done"
    notes = [_counts(call.files)] if call.files else []
    notes += ["outcome unknown" if call.status == "unknown" else call.status] if bad else []
    notes += [f"({call.seconds:.1f} s)"] if call.seconds >= 0.1 else []
    tail = "".join(f"  {note}" for note in notes)
    title = call.title or ("" if call.kind == "think" else gist(call.args))
    name = pen.fit(call.name, pen.width // 2)
    room = pen.width - len(f"● {name}  {tail}")
    about = f"  {pen.fit(title, max(room, 8))}" if title else ""
    sign, tail = pen.paint("red" if bad else "green", "●"), pen.paint("red" if bad else "dim", tail)
    pen.line(f"{sign} {pen.paint('bold', name)}{about}{tail}")
    _draw_result(pen, call)


def draw_plan(pen: Pen, entries: tuple[PlanEntry, ...]) -> None:
    for entry in entries:
        text = pen.fit(f"{MARKS[entry.status]} {entry.content}", pen.width - len(INDENT))
        pen.line(INDENT + pen.paint("bold" if entry.status == "in_progress" else "", text))


def first_lines(lines: list[str], most: int) -> list[str]:
    """The first lines, and how many more there are unless it is only one."""
    return lines if len(lines) <= most + 1 else [*lines[:most], f"… {len(lines) - most} more lines"]


def gist(args: str) -> str:
    """What a call is about, from its arguments: the first text in them."""
    try:
        values = msgspec.json.decode(args, type=dict[str, object]).values()
    except msgspec.DecodeError:
        return args
    return next((value for value in values if isinstance(value, str)), "")


def _draw_result(pen: Pen, call: ToolCall) -> None:
    changed = [file for file in call.files if file.diff]
    for file in changed:
        if len(changed) > 1:
            _draw_lines(pen, [f"{file.path}  {_counts((file,))}"], 1)
        lines = file.diff.splitlines()
        _draw_lines(pen, lines[2:] if lines[0].startswith("---") else lines, DIFF_SHOWN, diff=True)
    if not changed and (call.status != "done" or call.kind not in QUIET):
        _draw_lines(pen, (call.shown or text_of(call.result)).splitlines(), OUTPUT_SHOWN)


def _draw_lines(pen: Pen, lines: list[str], most: int, *, diff: bool = False) -> None:
    for line in first_lines(lines, most):
        fitted = pen.fit(line, pen.width - len(INDENT))
        pen.line((INDENT + pen.paint(DIFF.get(line[:1], "dim") if diff else "dim", fitted)).rstrip())


def _counts(files: tuple[FileChange, ...]) -> str:
    return f"+{sum(file.added for file in files)} -{sum(file.removed for file in files)}"
