"""After a crash: close what the log left open, so that the history is one that a provider accepts and nothing runs twice."""

import msgspec

from hermes.agent.history import History
from hermes.protocol.events import Answered, Body, ItemDone, Notice, TurnEnded
from hermes.protocol.items import Item, Plan, Reply, Summary, Text, Thought, ToolCall, UserMessage
from hermes.protocol.store import JournalRow

UNKNOWN = (
    "Outcome unknown: Hermes was stopped while this ran. It may or may not have taken effect, and it was not run again. "
    "Check before you repeat it."
)


def recover(history: History, journal: list[JournalRow]) -> list[Body]:
    """The events that bring a log whose owner died to an orderly end."""
    begun = {row.ref: row for row in journal}
    bodies: list[Body] = [ItemDone(_close(item, begun)) for item in history.open.values()]
    if any(row.kind == "model" for row in journal):
        bodies.append(
            Notice("a model call was cut off when Hermes stopped; what it cost is not known", level="warning")
        )
    bodies += [Answered(request_id, how="expired") for request_id in history.asked]
    if history.in_turn:
        bodies.append(TurnEnded("failed", error="Hermes was stopped during this turn"))
    return bodies


def _close(item: Item, begun: dict[str, JournalRow]) -> Item:
    """An open item as it must end. The text that a crash cut off was never stored, so it is void; so is a call that had
    not begun. One that had begun has its arguments in the journal."""
    match item:
        case ToolCall() if item.id in begun:
            return msgspec.structs.replace(
                item, args=begun[item.id].detail, status="unknown", result=(Text(UNKNOWN),), source=f"tool:{item.name}"
            )
        case ToolCall() | Reply() | Thought():
            return msgspec.structs.replace(item, status="discarded")
        case UserMessage() | Plan() | Summary():
            return item


def interrupt(item: Item, partial: dict[str, str], answered: int, why: str) -> Item:
    """An open item as it ends when its turn is ended early, with what there was of it. `answered` is the last step whose
    answer came whole: calls of a later one may be cut, and are void."""
    match item:
        case ToolCall() if item.step > answered:
            return msgspec.structs.replace(item, status="discarded")
        case ToolCall():
            output = partial.get("output", "")
            text = f"{why}. Output until then:\n{output}" if output else f"{why}."
            return msgspec.structs.replace(
                item,
                args=partial.get("args", ""),
                status="interrupted",
                result=(Text(text),),
                source=f"tool:{item.name}",
                trust="workspace",
            )
        case Reply() | Thought():
            text = partial.get("text", "") + partial.get("thought", "")
            return msgspec.structs.replace(item, text=text, status="interrupted")
        case UserMessage() | Plan() | Summary():
            return item
