"""A stored session as lines in a terminal: who said what, each call in one line."""

from collections.abc import Iterator

from hermes.cli.table import cut, one_line
from hermes.commands.transcript import MARKS, Turn, heading, result_of, speaker, trouble
from hermes.commands.words import harmless
from hermes.protocol.items import Item, Plan, Reply, Thought, ToolCall, UserMessage, text_of

INDENT = "  "


def as_text(turns: list[Turn], *, full: bool, width: int) -> Iterator[str]:
    """The conversation; `full` adds thoughts, arguments and whole results."""
    last = ""
    for turn in turns:
        for item in turn.items:
            lines = list(_lines(item, full, width))
            if not lines:
                continue
            now = speaker(item)
            if now != last:
                yield from ("", now) if last else (now,)
                last = now
            yield from (f"{INDENT}{line}".rstrip() for line in lines)
        if bad := trouble(turn.end):
            yield f"{INDENT}({one_line(bad)})"


def _lines(item: Item, full: bool, width: int) -> Iterator[str]:
    match item:
        case UserMessage(parts=parts):
            yield from harmless(text_of(parts)).splitlines()
        case Reply(text=text):
            yield from harmless(text).splitlines()
        case Thought(text=text) if full:
            yield from (f"· {line}" for line in harmless(text).splitlines())
        case ToolCall() as call if full:
            yield f"[{one_line(heading(call))}] {one_line(call.args)}"
            yield from (f"{INDENT}{line}" for line in harmless(result_of(call)).splitlines())
        case ToolCall() as call:
            yield cut(f"[{one_line(heading(call))}] {_gist(call)}", max(width - len(INDENT), 20))
        case Plan(entries=entries) if full:
            yield from (f"{MARKS[entry.status]} {one_line(entry.content)}" for entry in entries)
        case _:
            pass


def _gist(call: ToolCall) -> str:
    """The first line of a result, and how many follow."""
    lines = [line for line in harmless(result_of(call)).splitlines() if line.strip()]
    if not lines:
        return "no output"
    return lines[0].strip() + (f" … {len(lines) - 1} more" if len(lines) > 1 else "")
