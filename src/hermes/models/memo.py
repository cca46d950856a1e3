"""What was sent before is not encoded again: items never change, and a view mostly grows at its end."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Raw

from hermes.models.view import PLAIN_IDS, Conversation, Message, pictures_in, whole_steps
from hermes.protocol.items import Item
from hermes.protocol.models import ModelRequest

Wire = dict[str, Any]
"""A message as a dialect writes it."""
Add = Callable[[list[Wire], Message], None]
"""Puts a message behind others. It may put another in the place of the last one, but changes none of them."""

CONVERSATIONS = 8
LARGEST = 64 << 20
"""Bytes that are kept of all conversations together; no provider takes a request of that size."""


class Memo:
    """The conversations that were sent last, each encoded but for its last step.

    Sessions may share it, for a conversation is known by its items. Dialect, model and quirks must stay the same.
    """

    def __init__(self) -> None:
        self._sent: list[_Sent] = []

    def messages(
        self, request: ModelRequest, add: Add, *, ids: str = PLAIN_IDS, loose: int = 0
    ) -> tuple[list[Raw], list[Wire]]:
        """The messages of a request in two parts: those that are settled, each Raw one or several of them, and the last
        ones. These are at least `loose` and the last step's; a dialect may mark them, or look at them."""
        known = [sent for sent in self._sent if sent.leads_to(request)]
        sent = max(known, key=lambda sent: len(sent.items), default=None) or _Sent(ids)
        # What fails on the way is not taken up again.
        self._sent = [other for other in self._sent if other is not sent]
        sent.settle(request, add, loose)
        latest = sent.latest(request, add)
        self._keep(sent)
        return sent.settled, latest

    def _keep(self, sent: "_Sent") -> None:
        self._sent.insert(0, sent)
        while len(self._sent) > CONVERSATIONS or sum(sent.size for sent in self._sent) > LARGEST:
            self._sent.pop()


class _Sent:
    """The whole steps of one conversation."""

    def __init__(self, ids: str) -> None:
        self.items: tuple[Item, ...] = ()
        self.settled: list[Raw] = []
        self.size = 0
        self._conversation = Conversation(ids)
        self._loose: list[Wire] = []
        self._pictures: dict[str, bool] = {}

    def leads_to(self, request: ModelRequest) -> bool:
        """Whether a request begins with just this. A picture's bytes can come or go, but not change: a blob is a hash."""
        items, count = request.items, len(self.items)
        return (
            0 < count < len(items)
            and items[count].step != items[count - 1].step
            and items[:count] == self.items
            and all((blob in request.images) is shown for blob, shown in self._pictures.items())
        )

    def settle(self, request: ModelRequest, add: Add, loose: int) -> None:
        """Take in the steps that became whole, and encode all messages but the last few."""
        count = whole_steps(request.items)
        new = request.items[len(self.items) : count]
        for message in self._conversation.go_on(new):
            add(self._loose, message)
        if (ready := len(self._loose) - loose) > 0:
            # A Raw is copied as it is, so it can hold several elements of the list that it is put into.
            encoded = msgspec.json.encode(self._loose[:ready])[1:-1]
            self.settled.append(Raw(encoded))
            self.size += len(encoded)
            del self._loose[:ready]
        self._pictures |= {blob: blob in request.images for blob in pictures_in(new)}
        self.items = request.items[:count]

    def latest(self, request: ModelRequest, add: Add) -> list[Wire]:
        """The messages that are not settled, with those of the last step."""
        messages = list(self._loose)
        for message in self._conversation.end(request.items[len(self.items) :]):
            add(messages, message)
        return messages
