"""One model call's answer, from deltas to items."""

from collections.abc import Iterator
from typing import Any

import msgspec

from hermes.protocol.errors import LimitReached
from hermes.protocol.events import Body, Channel, ItemDelta, ItemDone, ItemStarted, Notice, Usage
from hermes.protocol.ids import new_id
from hermes.protocol.items import Opaque, Reply, Thought, ToolCall
from hermes.protocol.models import Began, Delta, Ended, Finished, Grew, Model, Retrying

LONGEST = 2_000_000
"""Characters after which an answer is taken to be endless."""

Whole = Thought | Reply | ToolCall
_channels: dict[str, Channel] = {"text": "text", "thought": "thought", "call": "args"}


class _Growing:
    """A part of the answer while it comes in."""

    def __init__(self, item: Whole, channel: Channel) -> None:
        self.item: Whole = item
        self.channel: Channel = channel
        self.pieces: list[str] = []
        self.length = 0


class Response:
    """Takes a call's deltas and gives event bodies. Only after Finished has anything been said; until then it may be void."""

    def __init__(self, model: Model, turn: int, step: int) -> None:
        self.finished: Finished | None = None
        self.calls: list[ToolCall] = []
        self.text = ""
        self._model, self._turn, self._step = model, turn, step
        self._parts: dict[int, _Growing] = {}
        self._done: list[Whole] = []
        self._call_ids: set[str] = set()

    def take(self, delta: Delta) -> Iterator[Body]:
        match delta:
            case Began():
                yield from self._begin(delta)
            case Grew(index=index, text=text):
                part = self._parts[index]
                yield ItemDelta(part.item.id, part.channel, part.length, text)
                part.pieces.append(text)
                part.length += len(text)
                if part.length > LONGEST:
                    raise LimitReached("output", "the model's answer did not end; it was cut off")
            case Ended(index=index, opaque=opaque):
                self._end(index, opaque)
            case Finished():
                self.finished = delta
                yield from self._finish(delta)
            case Retrying(why=why, wait=wait, model=model):
                yield from self._discard()
                later = f" in {wait:.0f} s" if wait >= 1 else ""
                yield Notice(f"{why.rstrip('. ')}; trying {model} again{later}", level="warning", code="retry")

    def _begin(self, began: Began) -> Iterator[Body]:
        place: dict[str, Any] = {"id": new_id(), "turn": self._turn, "step": self._step, "index": began.index}
        item: Whole
        match began.kind:
            case "text":
                item = Reply(**place, source="model", text="", status="running")
            case "thought":
                item = Thought(**place, source="model", text="", status="running")
            case "call":
                item = ToolCall(**place, source="model", call_id=self._unique(began), name=began.name, args="")
        self._parts[began.index] = _Growing(item, _channels[began.kind])
        yield ItemStarted(item)

    def _unique(self, began: Began) -> str:
        """The provider's id of a call, made unique: some send none, or the same one twice."""
        name = began.call_id or new_id("call_")
        if name in self._call_ids:
            name = f"{name}_{began.index}"
        self._call_ids.add(name)
        return name

    def _end(self, index: int, opaque: str) -> None:
        part = self._parts.pop(index)
        text = "".join(part.pieces)
        sealed = Opaque(self._model.dialect, self._model.name, opaque) if opaque else None
        if isinstance(part.item, ToolCall):
            self._done.append(msgspec.structs.replace(part.item, args=text, opaque=sealed))
        else:
            self._done.append(msgspec.structs.replace(part.item, text=text, opaque=sealed, status="done"))

    def _finish(self, finished: Finished) -> Iterator[Body]:
        for index in sorted(self._parts):
            self._end(index, "")
        for item in self._done:
            if isinstance(item, ToolCall):
                self.calls.append(item)
            else:
                self.text += item.text if isinstance(item, Reply) else ""
                yield ItemDone(item)
        tokens = finished.tokens
        yield Usage(
            step=self._step,
            model=finished.model or self._model.name,
            **msgspec.structs.asdict(tokens),
            cost=finished.cost,
            context_used=tokens.input + tokens.output,
            context_size=self._model.window,
        )

    def _discard(self) -> Iterator[Body]:
        for item in [*self._done, *(part.item for part in self._parts.values())]:
            yield ItemDone(msgspec.structs.replace(item, status="discarded"))
        self._parts.clear()
        self._done.clear()
        self._call_ids.clear()
