"""The events of a response to deltas. Every field may be missing or null."""

from collections.abc import Callable
from typing import Any

import msgspec
from msgspec import Struct

from hermes.models import faults
from hermes.models.answer import Answer
from hermes.models.decoder import Decoder
from hermes.protocol.errors import Disconnected
from hermes.protocol.ids import new_id
from hermes.protocol.models import Finish, PartKind, Tokens

Count = int | float | None

KINDS: dict[str, PartKind] = {"message": "text", "reasoning": "thought", "function_call": "call"}
INCOMPLETE: dict[str, Finish] = {"max_output_tokens": "length", "content_filter": "refused"}
ENDINGS = {
    "response.completed": "completed",
    "response.incomplete": "incomplete",
    "response.failed": "failed",
}
GROWTH: dict[str, PartKind] = {
    "response.output_text.delta": "text",
    "response.refusal.delta": "text",
    "response.reasoning_summary_text.delta": "thought",
    "response.reasoning_text.delta": "thought",
    "response.function_call_arguments.delta": "call",
}


class _Content(Struct):
    type: str = ""
    text: str | None = None
    refusal: str | None = None


class _Item(Struct):
    type: str = ""
    id: str | None = None
    call_id: str | None = None
    name: str | None = None
    arguments: str | None = None
    content: list[_Content] | None = None
    summary: list[_Content] | None = None
    encrypted_content: str | None = None
    phase: str | None = None


class _Details(Struct):
    cached_tokens: Count = None
    cache_write_tokens: Count = None
    reasoning_tokens: Count = None


class _Usage(Struct):
    input_tokens: Count = None
    output_tokens: Count = None
    input_tokens_details: _Details | None = None
    output_tokens_details: _Details | None = None


class _Incomplete(Struct):
    reason: str | None = None


class _Response(Struct):
    status: str | None = None
    model: str | None = None
    output: list[_Item] | None = None
    usage: _Usage | None = None
    incomplete_details: _Incomplete | None = None
    error: Any = None


class _Event(Struct):
    type: str = ""
    output_index: int = 0
    summary_index: int = 0
    item: _Item | None = None
    delta: Any = None
    response: _Response | None = None


_events = msgspec.json.Decoder(_Event, strict=False)
_responses = msgspec.json.Decoder(_Response, strict=False)


def decoder(new_id: Callable[[str], str] = new_id) -> Decoder:
    return Decoder(_Reader(Answer(new_id)))


class _Reader:
    """Follows the output items of one response."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self._parts: dict[int, int] = {}
        self._refused = False

    def event(self, name: str, data: bytes) -> None:
        event = _events.decode(data)
        kind = event.type or name
        if kind in GROWTH:
            self._grow(event, GROWTH[kind], refusal=kind == "response.refusal.delta")
        elif kind == "response.output_item.added" and event.item:
            self._begin(event.output_index, event.item)
        elif kind == "response.output_item.done" and event.item:
            self._complete(event.output_index, event.item)
        elif kind == "response.reasoning_summary_part.added" and event.summary_index:
            self._grow(msgspec.structs.replace(event, delta="\n\n"), "thought")
        elif kind in ENDINGS:
            self._end(event.response or _Response(), ENDINGS[kind])
        elif kind == "error":
            raise faults.from_event(msgspec.json.decode(data))

    def whole(self, data: bytes) -> None:
        response = _responses.decode(data)
        self._end(response, response.status or "no answer")

    def close(self) -> None:
        """The last event finishes an answer, so there is nothing left to do."""

    def _begin(self, place: int, item: _Item) -> int | None:
        kind = KINDS.get(item.type)
        if kind is not None and place not in self._parts:
            self._parts[place] = self.answer.begin(kind, item.call_id or "", item.name or "")
        return self._parts.get(place)

    def _grow(self, event: _Event, kind: PartKind, *, refusal: bool = False) -> None:
        self._refused = self._refused or refusal
        # A call that was not announced has no name yet; it comes whole when it is done.
        if event.output_index not in self._parts and kind != "call":
            self._parts[event.output_index] = self.answer.begin(kind)
        part = self._parts.get(event.output_index)
        if part is not None and isinstance(event.delta, str):
            self.answer.grow(part, event.delta)

    def _complete(self, place: int, item: _Item) -> None:
        part = self._begin(place, item)
        if part is None:
            return
        match KINDS[item.type]:
            case "call":
                self.answer.complete(part, item.arguments or "")
                self.answer.end(part)
            case "text":
                said = item.content or []
                self._refused = self._refused or any(content.refusal for content in said)
                self.answer.complete(part, "".join(content.text or content.refusal or "" for content in said))
                self.answer.end(part, _seal({"phase": item.phase}) if item.phase else "")
            case "thought":
                self.answer.complete(part, "\n\n".join(text.text or "" for text in item.summary or item.content or []))
                kept = {"id": item.id or "", "encrypted": item.encrypted_content}
                self.answer.end(part, _seal(kept) if item.encrypted_content else "")

    def _end(self, response: _Response, status: str) -> None:
        if response.error or status == "failed":
            raise faults.from_event(response.error or "the provider failed to answer")
        if status not in ENDINGS.values():
            raise Disconnected(f"the provider gave no whole answer ({status})")
        for place, item in enumerate(response.output or ()):
            self._complete(place, item)
        reason: Finish | None = "stop"
        if status == "incomplete":
            why = response.incomplete_details or _Incomplete()
            reason = INCOMPLETE.get(why.reason or "", "length")
        if self._refused:
            reason = "refused"
        self.answer.finish(reason, _tokens(response.usage or _Usage()), response.model or "")


def _seal(kept: dict[str, Any]) -> str:
    return msgspec.json.encode(kept).decode()


def _tokens(usage: _Usage) -> Tokens:
    given = usage.input_tokens_details or _Details()
    taken = usage.output_tokens_details or _Details()
    return Tokens(
        input=int(usage.input_tokens or 0),
        output=int(usage.output_tokens or 0),
        cache_read=int(given.cached_tokens or 0),
        cache_write=int(given.cache_write_tokens or 0),
        reasoning=int(taken.reasoning_tokens or 0),
    )
