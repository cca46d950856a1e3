"""Chat chunks to deltas."""

from collections.abc import Callable
from typing import Any

import msgspec

from hermes.models import faults
from hermes.models.answer import Answer
from hermes.models.decoder import Decoder
from hermes.models.dialects.chat.chunks import (
    Function,
    Message,
    Usage,
    merge,
    read_chunk,
    texts_of,
    tokens_of,
)
from hermes.models.dialects.chat.fragments import Calls, Fragment
from hermes.protocol.errors import Overloaded
from hermes.protocol.ids import new_id
from hermes.protocol.models import Finish

FINISHES: dict[str, Finish] = {
    "stop": "stop",
    "end_turn": "stop",
    "stop_sequence": "stop",
    "eos": "stop",
    "tool_calls": "calls",
    "tool_use": "calls",
    "function_call": "calls",
    "length": "length",
    "max_tokens": "length",
    "model_length": "length",
    "model_context_window_exceeded": "length",
    "content_filter": "refused",
    "refusal": "refused",
    "safety": "refused",
    "sensitive": "refused",
    "recitation": "refused",
    "prohibited_content": "refused",
}
FAILURES = ("error", "abort", "network_error", "insufficient_system_resource")
"""Reasons by which a vendor says that it broke off."""


def decoder(new_id: Callable[[str], str] = new_id) -> Decoder:
    return Decoder(_Reader(Answer(new_id)))


class _Reader:
    """Follows the one choice of a stream of chunks."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self._calls = Calls(answer)
        self._thought: int | None = None
        self._details: list[dict[str, Any]] = []
        self._text: int | None = None
        self._refused = False
        self._finish = ""
        self._usage = Usage()
        self._model = ""

    def event(self, name: str, data: bytes) -> None:
        if data.strip() == b"[DONE]":
            self.close()
        else:
            self.whole(data)

    def whole(self, data: bytes) -> None:
        """A chunk and a whole answer differ only in that the one has a delta where the other has a message."""
        chunk = read_chunk(data)
        if chunk.error or chunk.object == "error":
            raise faults.from_event(msgspec.json.decode(data))
        self._model = chunk.model or self._model
        self._usage = chunk.usage or self._usage
        for choice in chunk.choices or ():
            if not choice.index:
                self._usage = choice.usage or self._usage
                self._take(choice.delta or choice.message or Message(), whole=choice.delta is None)
                if choice.finish_reason:
                    self._stop(choice.finish_reason.lower())

    def close(self) -> None:
        if not self._finish:
            return
        self._end_parts()
        reason = "refused" if self._refused else FINISHES.get(self._finish)
        cost = self._usage.cost if isinstance(self._usage.cost, int | float) else None
        self.answer.finish(reason, tokens_of(self._usage), self._model, cost)

    def _stop(self, reason: str) -> None:
        if reason in FAILURES:
            raise Overloaded(f"the provider broke off its answer ({reason})")
        self._finish = reason
        self._end_parts()

    def _take(self, message: Message, whole: bool) -> None:
        thought, text = texts_of(message.content)
        thought = message.reasoning_content or message.reasoning or thought
        if thought or message.reasoning_details:
            self._think(thought, message.reasoning_details or [])
        if message.refusal:
            self._refused = True
            text += message.refusal
        if text:
            self._say(text)
        for place, call in enumerate(message.tool_calls or ()):
            self._end_thought()
            self._end_text()
            function = call.function or Function()
            args = function.arguments or ""
            self._calls.take(
                Fragment(
                    index=place if whole and call.index is None else call.index,
                    id="" if call.id is None else str(call.id),
                    name=function.name or "",
                    args=args if isinstance(args, str) else msgspec.json.encode(args).decode(),
                    extra=call.extra_content,
                )
            )

    def _think(self, text: str, details: list[dict[str, Any]]) -> None:
        text = text or "".join(str(detail.get("text") or detail.get("summary") or "") for detail in details)
        if text:
            self._end_text()
        if self._thought is None:
            self._thought = self.answer.begin("thought")
        self._details.extend(details)
        self.answer.grow(self._thought, text)

    def _say(self, text: str) -> None:
        self._end_thought()
        if self._text is None:
            self._text = self.answer.begin("text")
        self.answer.grow(self._text, text)

    def _end_thought(self) -> None:
        if self._thought is not None:
            kept = {"details": merge(self._details)} if self._details else {}
            self.answer.end(self._thought, msgspec.json.encode(kept).decode())
            self._thought, self._details = None, []

    def _end_text(self) -> None:
        if self._text is not None:
            self.answer.end(self._text)
            self._text = None

    def _end_parts(self) -> None:
        self._end_thought()
        self._end_text()
        self._calls.end()
