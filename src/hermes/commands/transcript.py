"""A stored session as the conversation it was: all of it as Markdown for a file, or its last exchanges for a screen."""

import re
import time
from collections.abc import Iterable, Iterator

from msgspec import Struct

from hermes.protocol.events import Changed, ItemDone, TurnEnded
from hermes.protocol.items import Item, Plan, Reply, Summary, Thought, ToolCall, UserMessage, text_of
from hermes.protocol.store import Log, SessionRow

ASKED_SHOWN, ANSWERED_SHOWN, LINES_SHOWN = 300, 200, 3
MARKS = {"pending": "[ ]", "in_progress": "[~]", "completed": "[x]", "cancelled": "[-]"}


class Turn(Struct):
    """What was said and done in one turn, in order, and how it ended."""

    items: list[Item]
    end: TurnEnded | None = None


async def turns_of(log: Log, session: str) -> list[Turn]:
    """The conversation as it stands: without what was taken back, void, or made for the model only."""
    turns: dict[int, Turn] = {}
    seq = 0
    while events := await log.events(session, seq):
        for event in events:
            match event.body:
                case ItemDone(item=Summary() | Thought(status="discarded") | Reply(status="discarded")):
                    pass
                case ItemDone(item=ToolCall(status="discarded")):
                    pass
                case ItemDone(item=item):
                    turns.setdefault(item.turn, Turn([])).items.append(item)
                case TurnEnded() as end if event.turn in turns:
                    turns[event.turn].end = end
                case Changed(cause="rewound", turns=(first, last)):
                    turns = {number: turn for number, turn in turns.items() if not first <= number <= last}
                case _:
                    pass
        seq = events[-1].seq or seq
    for turn in turns.values():
        turn.items.sort(key=lambda item: (item.step, item.index))
    return [turns[number] for number in sorted(turns)]


def as_markdown(row: SessionRow, turns: Iterable[Turn]) -> str:
    """A document that reads from top to bottom."""
    started = time.strftime("%Y-%m-%d %H:%M", time.localtime(row.started))
    head = f"# {row.title or row.id}\n\nSession `{row.id}`, {started}, model `{row.model}`, folder `{row.cwd}`"
    blocks, last = [head], ""
    for turn in turns:
        for item in turn.items:
            if (now := speaker(item)) != last:
                blocks.append(f"## {now}")
                last = now
            blocks += _blocks(item)
        if bad := trouble(turn.end):
            blocks.append(f"*{bad}*")
    return "\n\n".join(blocks) + "\n"


def recap(turns: list[Turn], exchanges: int) -> str:
    """The last exchanges, each a question and the last answer to it, or why there is none, cut to a few lines."""
    lines: list[str] = []
    for turn in turns[-exchanges:]:
        for item in turn.items:
            if isinstance(item, UserMessage):
                lines.append(f"**{speaker(item)}:** {_cut(text_of(item.parts), ASKED_SHOWN)}")
        answers = [item.text for item in turn.items if isinstance(item, Reply)]
        lines += [f"**Hermes:** {_cut(answer, ANSWERED_SHOWN)}" for answer in answers[-1:]]
        if not answers and (bad := trouble(turn.end)):
            lines.append(f"({bad})")
    return "\n\n".join(lines)


def fenced(text: str, language: str) -> str:
    """A block of code whose fence is longer than any in it."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}{language}\n{text.rstrip()}\n{fence}"


def speaker(item: Item) -> str:
    """Who said or did it."""
    match item:
        case UserMessage(origin="person" | "redirect", sender=sender):
            return sender or "You"
        case UserMessage(origin=origin):
            return origin.capitalize()
        case _:
            return "Hermes"


def heading(call: ToolCall) -> str:
    """A call's tool and what it was about, with how it ended if that was not well."""
    name = f"{call.name}: {' '.join(call.title.split())}" if call.title else call.name
    return name if call.status == "done" else f"{name}; {call.status}"


def result_of(call: ToolCall) -> str:
    return call.shown or text_of(call.result)


def trouble(end: TurnEnded | None) -> str:
    """How a turn ended, if not well."""
    if end is None or end.reason == "done":
        return ""
    return " ".join((f"{end.reason}: {end.error}" if end.error else end.reason).split())


def _blocks(item: Item) -> Iterator[str]:
    match item:
        case UserMessage(parts=parts):
            yield text_of(parts)
        case Reply(text=text):
            yield text
        case Thought(text=text):
            yield "\n".join(f"> {line}".rstrip() for line in text.splitlines())
        case ToolCall() as call:
            yield f"**{heading(call)}**"
            yield fenced(call.args, "json")
            diffs = [fenced(file.diff, "diff") for file in call.files if file.diff]
            yield from diffs or [fenced(result_of(call), "text")]
        case Plan(entries=entries):
            yield "\n".join(f"- {MARKS[entry.status]} {entry.content}" for entry in entries)
        case Summary():
            pass


def _cut(text: str, length: int) -> str:
    """The first lines. Fences of code go: one that is never closed would swallow what comes after it."""
    lines = [line for line in text.strip().splitlines() if not line.lstrip().startswith(("```", "~~~"))]
    short = "\n".join(lines[:LINES_SHOWN])
    return short if len(short) <= length and len(lines) <= LINES_SHOWN else short[: length - 1].rstrip() + "…"
