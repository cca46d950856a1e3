"""What chat servers send: one chunk of a stream, or a whole answer. Every field may be missing or null."""

from typing import Any

import msgspec
from msgspec import Raw, Struct

from hermes.protocol.models import Tokens

Count = int | float | None


class Function(Struct):
    name: str | None = None
    arguments: str | dict[str, Any] | None = None


class ToolCall(Struct):
    index: int | None = None
    id: str | int | None = None
    function: Function | None = None
    extra_content: dict[str, Any] | None = None


class Content(Struct):
    """Mistral sends content in parts, and thoughts among them."""

    type: str = "text"
    text: str | None = None
    thinking: "str | list[Content] | None" = None


class Message(Struct):
    content: str | list[Content] | None = None
    refusal: str | None = None
    reasoning_content: str | None = None
    reasoning: str | None = None
    reasoning_details: list[dict[str, Any]] | None = None
    tool_calls: list[ToolCall] | None = None


class Details(Struct):
    cached_tokens: Count = None
    cache_write_tokens: Count = None
    reasoning_tokens: Count = None


class Usage(Struct):
    prompt_tokens: Count = None
    completion_tokens: Count = None
    total_tokens: Count = None
    prompt_tokens_details: Details | None = None
    completion_tokens_details: Details | None = None
    prompt_cache_hit_tokens: Count = None
    cached_tokens: Count = None
    cost: Any = None


class Choice(Struct):
    index: int | None = None
    delta: Message | None = None
    message: Message | None = None
    finish_reason: str | None = None
    usage: Usage | None = None


class Chunk(Struct):
    choices: list[Choice] | None = None
    usage: Usage | None = None
    model: str | None = None
    error: Any = None
    object: str | None = None


_chunks = msgspec.json.Decoder(Chunk, strict=False)


def read_chunk(data: bytes) -> Chunk:
    """The chunk in some JSON; Gemini wraps one that is no stream into a list."""
    if data.startswith(b"["):
        wrapped = msgspec.json.decode(data, type=list[Raw])
        data = bytes(wrapped[0]) if wrapped else b"{}"
    return _chunks.decode(data)


def texts_of(content: str | list[Content] | None) -> tuple[str, str]:
    """Thought and text of a message's content."""
    if not isinstance(content, list):
        return "", content or ""
    thought = "".join(texts_of(part.thinking)[1] for part in content)
    return thought, "".join(part.text or "" for part in content)


def tokens_of(usage: Usage) -> Tokens:
    prompt, completion = int(usage.prompt_tokens or 0), int(usage.completion_tokens or 0)
    given = usage.prompt_tokens_details or Details()
    taken = usage.completion_tokens_details or Details()
    return Tokens(
        input=prompt,
        # xAI and Gemini count reasoning in the total only.
        output=max(completion, int(usage.total_tokens or 0) - prompt),
        cache_read=int(given.cached_tokens or usage.prompt_cache_hit_tokens or usage.cached_tokens or 0),
        cache_write=int(given.cache_write_tokens or 0),
        reasoning=int(taken.reasoning_tokens or 0),
    )


def merge(details: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """OpenRouter's reasoning_details put together: fragments of one text share type and index, seals come whole."""
    merged: list[dict[str, Any]] = []
    for detail in details:
        last = merged[-1] if merged else {}
        readable = detail.get("type") in ("reasoning.text", "reasoning.summary")
        if readable and all(last.get(key) == detail.get(key) for key in ("type", "index")):
            for key, value in detail.items():
                if key in ("text", "summary"):
                    last[key] = (last.get(key) or "") + (value or "")
                elif value is not None:
                    last[key] = value
        else:
            merged.append(dict(detail))
    return merged
