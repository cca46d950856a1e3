"""What happens in a session in words that every surface shares: a call, a plan, an ending."""

import msgspec

from hermes.protocol.events import TurnEnded
from hermes.protocol.items import FileChange, ToolCall

QUIET = ("read", "search", "think")
"""Kinds of calls whose result says nothing to a person unless it failed."""
MARKS = {"pending": "☐", "in_progress": "▸", "completed": "☑", "cancelled": "☒"}
SIGNS = {"info": "·", "warning": "!", "error": "✗"}
"""What stands before a notice."""

# What steers a terminal, turns the writing direction round or is no character. Lines and tabs stay.
_steering = [*range(0x20), *range(0x7F, 0xA0), *range(0x2028, 0x202F), *range(0x2066, 0x206A), *range(0xD800, 0xE000)]
_harmless: dict[int, str] = {code: "\ufffd" for code in _steering if chr(code) not in "\n\t"} | {ord("\r"): ""}


def harmless(text: str) -> str:
    """Text that cannot move a terminal's cursor, set its title or hide what it says."""
    return text.translate(_harmless)


def about(call: ToolCall) -> str:
    """What a call is about, beside the name of its tool."""
    return call.title or ("" if call.kind == "think" else gist(call.args))


def notes(call: ToolCall) -> list[str]:
    """What there is to know of a call that is over: lines changed, how it ended if not well, how long it ran."""
    found = [counts(call.files)] if call.files else []
    if call.status != "done":
        found.append("outcome unknown" if call.status == "unknown" else call.status)
    ran = call.status != "refused" and call.seconds >= 0.1
    return [*found, *([f"({call.seconds:.1f} s)"] if ran else [])]


def counts(files: tuple[FileChange, ...]) -> str:
    return f"+{sum(file.added for file in files)} -{sum(file.removed for file in files)}"


def changed_lines(file: FileChange) -> list[str]:
    """The lines of a diff, without the two that name the file."""
    lines = file.diff.splitlines()
    return lines[2:] if lines and lines[0].startswith("---") else lines


def gist(args: str) -> str:
    """What a call is about, from its arguments: the first text in them."""
    try:
        values = msgspec.json.decode(args, type=dict[str, object]).values()
    except msgspec.DecodeError:
        return args
    return next((value for value in values if isinstance(value, str)), "")


def first_lines(lines: list[str], most: int) -> list[str]:
    """The first lines, and how many more there are unless it is only one."""
    return lines if len(lines) <= most + 1 else [*lines[:most], f"… {len(lines) - most} more lines"]


def ending(ended: TurnEnded) -> str:
    """Why a turn ended, with what to do about it."""
    return f"{ended.error} ({ended.hint})" if ended.hint else ended.error or ended.reason


def is_mild(ended: TurnEnded) -> bool:
    """Whether a turn that is not done ended as somebody wanted it to."""
    return ended.reason in ("interrupted", "limit")
