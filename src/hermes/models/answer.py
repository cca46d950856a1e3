"""One answer as it grows, told in deltas."""

from collections.abc import Callable
from typing import Any

import msgspec

from hermes.protocol.ids import new_id
from hermes.protocol.models import Began, Delta, Ended, Finish, Finished, Grew, PartKind, Tokens

_objects = msgspec.json.Decoder(dict[str, Any])


def is_object(text: str) -> bool:
    """Whether a text is one whole JSON object, as the arguments of a call must be."""
    try:
        _objects.decode(text)
    except (ValueError, RecursionError):
        return False
    return True


def joined(deltas: list[Delta]) -> list[Delta]:
    """The same with neighbours that add to one part made one: each delta costs something at every place it goes to."""
    fewer: list[Delta] = []
    for delta in deltas:
        last = fewer[-1] if fewer else None
        if isinstance(delta, Grew) and isinstance(last, Grew) and delta.index == last.index:
            fewer[-1] = Grew(delta.index, last.text + delta.text)
        else:
            fewer.append(delta)
    return fewer


class _Part:
    def __init__(self, kind: PartKind) -> None:
        self.kind = kind
        self.pieces: list[str] = []
        self.open = True


class Answer:
    """Numbers the parts of an answer as they appear and collects what is to be told of them.

    Ids that a provider left out or gave twice are made here; `new_id` takes a prefix.
    """

    def __init__(self, new_id: Callable[[str], str] = new_id) -> None:
        self.finished = False
        self._new_id = new_id
        self._parts: list[_Part] = []
        self._call_ids: set[str] = set()
        self._deltas: list[Delta] = []

    def take(self) -> list[Delta]:
        """What is new since the last time."""
        deltas, self._deltas = self._deltas, []
        return deltas

    def begin(self, kind: PartKind, call_id: str = "", name: str = "") -> int:
        """Open a part; returns its index."""
        index = len(self._parts)
        self._parts.append(_Part(kind))
        if kind == "call":
            while not call_id or call_id in self._call_ids:
                call_id = self._new_id("call_")
            self._call_ids.add(call_id)
        self._deltas.append(Began(index, kind, call_id, name))
        return index

    def text(self, index: int) -> str:
        """What a part has grown to."""
        return "".join(self._parts[index].pieces)

    def grow(self, index: int, text: str) -> None:
        """Add to a part, unless it is closed."""
        part = self._parts[index]
        if text and part.open:
            part.pieces.append(text)
            self._deltas.append(Grew(index, text))

    def complete(self, index: int, text: str) -> None:
        """Take in the whole text of a part, of which some, all or nothing has come in pieces."""
        come = self.text(index)
        if text.startswith(come):
            self.grow(index, text[len(come) :])

    def end(self, index: int, opaque: str = "") -> None:
        """Close a part, once. A call without arguments is one with an empty object: providers differ in that."""
        part = self._parts[index]
        if not part.open:
            return
        if part.kind == "call" and not self.text(index).strip():
            self.grow(index, "{}")
        part.open = False
        self._deltas.append(Ended(index, opaque))

    def finish(self, reason: Finish | None, tokens: Tokens, model: str = "", cost: float | None = None) -> None:
        """Close what is open and say why it ended; a reason of None is one that nobody knows."""
        if self.finished:
            return
        self.finished = True
        for index in range(len(self._parts)):
            self.end(index)
        self._deltas.append(Finished(self._reason(reason), tokens, model, cost))

    def _reason(self, reason: Finish | None) -> Finish:
        """Calls are to be run only if the provider ended them: many say stop, some a word of their own."""
        if reason == "length" or reason == "refused":
            return reason
        calls = [index for index, part in enumerate(self._parts) if part.kind == "call"]
        if not calls:
            return "stop"
        if reason is None and not all(is_object(self.text(index)) for index in calls):
            return "length"
        return "calls"
