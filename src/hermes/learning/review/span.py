"""A stretch of a session as a review reads it: its items, and how far they go."""

from hermes.learning.review.detector import is_person
from hermes.protocol.events import Changed, Event, ItemDone, TurnEnded, TurnStarted
from hermes.protocol.items import Item, ToolCall


class Span:
    """What happened since a session was last reviewed. `take` its events in order."""

    def __init__(self, seq: int) -> None:
        self.seq = seq
        self._in_turn = False
        self.items: list[Item] = []
        self.times: dict[str, float] = {}
        """When each item was said or done; those of reviewed items stay."""
        self.turns = 0
        """Turns of the person since the memory tool was used, or since the last nudge."""

    def take(self, event: Event) -> None:
        if not self._in_turn:
            self.seq = event.seq or self.seq
        match event.body:
            case TurnStarted():
                self._in_turn = True
            case ItemDone(item=item):
                self.items.append(item)
                self.times[item.id] = event.at
                if isinstance(item, ToolCall) and item.name == "memory" and item.status == "done":
                    self.turns = 0
            case TurnEnded():
                self._in_turn, self.seq = False, event.seq or self.seq
                self.turns += any(is_person(item) for item in self.turn(event.turn))
            case Changed(cause="rewound", turns=(first, last)):
                self.items = [item for item in self.items if not first <= item.turn <= last]
            case _:
                pass

    def turn(self, number: int) -> list[Item]:
        return [item for item in self.items if item.turn == number]

    def is_foreign(self) -> bool:
        """Whether a text from elsewhere was in it."""
        return any(item.trust == "untrusted" for item in self.items)

    def forget(self, count: int) -> None:
        """Drop the first items, which were reviewed."""
        self.items = self.items[count:]
