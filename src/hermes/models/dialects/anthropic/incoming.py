"""The events of a message to deltas. Every field may be missing or null."""

from collections.abc import Callable

import msgspec
from msgspec import Raw, Struct

from hermes.models import faults
from hermes.models.answer import Answer
from hermes.models.decoder import Decoder
from hermes.models.dialects.anthropic.seals import seal, seal_redacted
from hermes.protocol.ids import new_id
from hermes.protocol.models import Finish, PartKind, Tokens

Count = int | float | None

KINDS: dict[str, PartKind] = {
    "text": "text",
    "thinking": "thought",
    "redacted_thinking": "thought",
    "tool_use": "call",
}
FINISHES: dict[str, Finish] = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "pause_turn": "stop",
    "tool_use": "calls",
    "max_tokens": "length",
    "model_context_window_exceeded": "length",
    "refusal": "refused",
}


class _Block(Struct):
    type: str = ""
    id: str | None = None
    name: str | None = None
    text: str | None = None
    thinking: str | None = None
    signature: str | None = None
    data: str | None = None
    input: Raw = Raw()


class _Details(Struct):
    thinking_tokens: Count = None


class _Usage(Struct):
    input_tokens: Count = None
    output_tokens: Count = None
    cache_read_input_tokens: Count = None
    cache_creation_input_tokens: Count = None
    output_tokens_details: _Details | None = None


class _Delta(Struct):
    text: str | None = None
    thinking: str | None = None
    partial_json: str | None = None
    signature: str | None = None
    stop_reason: str | None = None


class _Message(Struct):
    type: str = ""
    model: str | None = None
    content: list[_Block] | None = None
    usage: _Usage | None = None
    stop_reason: str | None = None


class _Event(Struct):
    type: str = ""
    index: int = 0
    message: _Message | str | None = None
    content_block: _Block | None = None
    delta: _Delta | None = None
    usage: _Usage | None = None


_events = msgspec.json.Decoder(_Event, strict=False)
_messages = msgspec.json.Decoder(_Message, strict=False)


def decoder(new_id: Callable[[str], str] = new_id) -> Decoder:
    return Decoder(_Reader(Answer(new_id)))


class _Open:
    """A content block that is growing."""

    def __init__(self, block: _Block, part: int) -> None:
        self.block = block
        self.part = part
        self.signature = block.signature or ""


class _Reader:
    """Follows the content blocks of one message."""

    def __init__(self, answer: Answer) -> None:
        self.answer = answer
        self._blocks: dict[int, _Open] = {}
        self._tokens = Tokens()
        self._finish = ""
        self._model = ""

    def event(self, name: str, data: bytes) -> None:
        event = _events.decode(data)
        match event.type or name:
            case "message_start" if isinstance(event.message, _Message):
                self._model = event.message.model or ""
                self._count(event.message.usage)
            case "content_block_start" if event.content_block:
                self._begin(event.index, event.content_block)
            case "content_block_delta" if event.delta:
                self._grow(event.index, event.delta)
            case "content_block_stop":
                self._end(event.index)
            case "message_delta":
                self._count(event.usage)
                self._finish = (event.delta and event.delta.stop_reason) or self._finish
            case "message_stop":
                self.close()
            case "error":
                raise faults.from_event(msgspec.json.decode(data))

    def whole(self, data: bytes) -> None:
        message = _messages.decode(data)
        if message.type == "error":
            raise faults.from_event(msgspec.json.decode(data))
        for index, block in enumerate(message.content or ()):
            self._begin(index, block)
            self._end(index)
        self._count(message.usage)
        self._finish = message.stop_reason or ""
        self._model = message.model or ""

    def close(self) -> None:
        if self._finish:
            for index in list(self._blocks):
                self._end(index)
            self.answer.finish(FINISHES.get(self._finish), self._tokens, self._model)

    def _begin(self, index: int, block: _Block) -> None:
        kind = KINDS.get(block.type)
        if kind is None:
            return
        part = self.answer.begin(kind, block.id or "", block.name or "")
        self._blocks[index] = _Open(block, part)
        self.answer.grow(part, block.text or block.thinking or "")

    def _grow(self, index: int, delta: _Delta) -> None:
        opened = self._blocks.get(index)
        if opened is not None:
            opened.signature += delta.signature or ""
            self.answer.grow(opened.part, delta.text or delta.thinking or delta.partial_json or "")

    def _end(self, index: int) -> None:
        opened = self._blocks.pop(index, None)
        if opened is None:
            return
        part, block = opened.part, opened.block
        # Some servers send the arguments whole with the start of the block, and no pieces of them.
        if block.type == "tool_use" and not self.answer.text(part):
            self.answer.grow(part, bytes(block.input).decode().removeprefix("null"))
        if block.type == "redacted_thinking":
            self.answer.end(part, seal_redacted(block.data or ""))
        else:
            self.answer.end(part, opened.signature and seal(opened.signature, self.answer.text(part)))

    def _count(self, usage: _Usage | None) -> None:
        """Counts come at the start, at the end, or some here and some there; each is a total, and the last one holds."""
        if usage is None:
            return
        have, details = self._tokens, usage.output_tokens_details or _Details()
        read = int(usage.cache_read_input_tokens or have.cache_read)
        written = int(usage.cache_creation_input_tokens or have.cache_write)
        fresh = int(usage.input_tokens or have.input - have.cache_read - have.cache_write)
        self._tokens = Tokens(
            input=fresh + read + written,
            output=int(usage.output_tokens or have.output),
            cache_read=read,
            cache_write=written,
            reasoning=int(details.thinking_tokens or have.reasoning),
        )
