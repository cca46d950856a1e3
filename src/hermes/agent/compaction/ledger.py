"""What code can tell of some steps without a model: files, commands with their exit codes, what failed, names to search by."""

import re
from collections import Counter
from collections.abc import Iterable

import msgspec

from hermes.protocol.items import Item, Reply, Summary, ToolCall, text_of

MOST = 12
WIDTH = 120
LONGEST = 20_000
"""Characters of a result in which names are looked for."""
_exit = re.compile(r"\[exit (\d+)")
# Names that somebody might ask for again: paths, addresses, versions, hashes, CONSTANTS, snake_case and camelCase words.
_name = re.compile(
    r"https?://[^\s\"'<>)\]]+|(?<![\w/])(?:~|\.{1,2})?/[\w.@+-]+(?:/[\w.@+-]+)+|\b[0-9a-f]{7,40}\b(?<!\d{7})"
    r"|\b[A-Z][A-Z0-9]+(?:[_-][A-Z0-9]+)+\b|\b\w+_\w+\b|\b[a-z]+[A-Z]\w+\b|\b\w+-\d+\b|\bv?\d+\.\d+(?:\.\d+)+\b"
)


def ledger(items: Iterable[Item]) -> str:
    """One line for each kind of fact that there is."""
    calls = [item for item in items if isinstance(item, ToolCall)]
    texts = [item.text for item in items if isinstance(item, Reply | Summary)]
    files = Counter({f"{file.path} ({file.change})": 1 for call in calls for file in call.files})
    read = Counter(place.path for call in calls for place in call.locations if not call.files)
    lines = (
        ("files changed", list(files)),
        ("files read", [path for path, _ in read.most_common(MOST)]),
        ("commands", [_command(call) for call in calls if call.kind == "execute"]),
        ("failed", [_failure(call) for call in calls if call.status in ("failed", "refused", "unknown")]),
        ("names", _names([*(text_of(call.result) for call in calls), *texts])),
    )
    return "\n".join(f"{title}: {'; '.join(_few(found))}" for title, found in lines if found)


def _command(call: ToolCall) -> str:
    try:
        command = str(msgspec.json.decode(call.args).get("command", ""))
    except (msgspec.DecodeError, AttributeError):
        command = ""
    code = _exit.search(text_of(call.result))
    return f"{_line(command or call.title or call.name)} → {code[1] if code else '0' if call.status == 'done' else call.status}"


def _failure(call: ToolCall) -> str:
    return f"{call.name} {_line(call.title)}: {_line(text_of(call.result))}"


def _names(texts: list[str]) -> list[str]:
    counted = Counter(name for text in texts for name in _name.findall(text[:LONGEST]) if len(name) <= WIDTH)
    return [name for name, _ in counted.most_common(MOST * 2)]


def _few(found: list[str]) -> list[str]:
    if len(found) <= MOST * 2:
        return found
    return [*found[:MOST], f"… {len(found) - 2 * MOST} more …", *found[-MOST:]]


def _line(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= WIDTH else line[: WIDTH - 1] + "…"
