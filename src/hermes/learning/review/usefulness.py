"""Which entries a turn made use of, and whether they served it.

The rule is simple and can be wrong in single cases: an entry was used if the model, in its answer or its calls, says at least
half of the entry's telling words (and two of them) that the person had not said in this turn. It helped if the turn ended
well and the person's next message does not object; it hurt if the next message is a correction.
"""

from collections.abc import Iterable, Sequence

from hermes.learning.memory.words import telling
from hermes.protocol.items import Item, Reply, ToolCall, UserMessage, text_of
from hermes.protocol.memories import Memory

LEAST = 2


def used(entries: Iterable[Memory], turn: Sequence[Item]) -> list[int]:
    """The ids of those entries that a turn made use of."""
    asked = telling("\n".join(text_of(item.parts) for item in turn if isinstance(item, UserMessage)))
    done = telling("\n".join(_by_the_model(item) for item in turn)) - asked
    found: list[int] = []
    for row in entries:
        words = telling(row.content)
        shared = len(words & done)
        if shared >= LEAST and 2 * shared >= len(words):
            found.append(row.id)
    return found


def _by_the_model(item: Item) -> str:
    match item:
        case Reply(text=text):
            return text
        case ToolCall(args=args):
            return args
        case _:
            return ""
