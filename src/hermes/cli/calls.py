"""A tool call in lines: what it was about, how it ended, and the beginning of what came of it."""

from hermes.cli.pen import Pen, Style
from hermes.commands.words import MARKS, QUIET, about, changed_lines, counts, first_lines, notes
from hermes.protocol.items import PlanEntry, ToolCall, text_of

INDENT = "    "
OUTPUT_SHOWN, DIFF_SHOWN = 5, 20
DIFF: dict[str, Style] = {"+": "green", "-": "red", "@": "cyan"}


def draw_call(pen: Pen, call: ToolCall) -> None:
    """A call that is over."""
    bad = call.status != "done"
    tail = "".join(f"  {note}" for note in notes(call))
    title = about(call)
    name = pen.fit(call.name, pen.width // 2)
    room = pen.width - len(f"● {name}  {tail}")
    beside = f"  {pen.fit(title, max(room, 8))}" if title else ""
    sign, tail = pen.paint("red" if bad else "green", "●"), pen.paint("red" if bad else "dim", tail)
    pen.line(f"{sign} {pen.paint('bold', name)}{beside}{tail}")
    _draw_result(pen, call)


def draw_plan(pen: Pen, entries: tuple[PlanEntry, ...]) -> None:
    for entry in entries:
        text = pen.fit(f"{MARKS[entry.status]} {entry.content}", pen.width - len(INDENT))
        pen.line(INDENT + pen.paint("bold" if entry.status == "in_progress" else "", text))


def _draw_result(pen: Pen, call: ToolCall) -> None:
    changed = [file for file in call.files if file.diff]
    for file in changed:
        if len(changed) > 1:
            _draw_lines(pen, [f"{file.path}  {counts((file,))}"], 1)
        _draw_lines(pen, changed_lines(file), DIFF_SHOWN, diff=True)
    if not changed and (call.status != "done" or call.kind not in QUIET):
        _draw_lines(pen, (call.shown or text_of(call.result)).splitlines(), OUTPUT_SHOWN)


def _draw_lines(pen: Pen, lines: list[str], most: int, *, diff: bool = False) -> None:
    for line in first_lines(lines, most):
        fitted = pen.fit(line, pen.width - len(INDENT))
        pen.line((INDENT + pen.paint(DIFF.get(line[:1], "dim") if diff else "dim", fitted)).rstrip())
