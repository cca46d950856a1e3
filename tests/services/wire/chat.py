"""Replies as OpenAI chat completions."""

from collections.abc import Iterator
from typing import Any

from tests.services.script import Finish, Reply, Usage
from tests.services.wire.frames import CREATED, Asked, pieces, sse, text_pieces

FINISH_REASONS: dict[Finish, str] = {
    "stop": "stop",
    "tool_calls": "tool_calls",
    "length": "length",
    "content_filter": "content_filter",
    "refusal": "stop",
}


def events(reply: Reply, asked: Asked) -> Iterator[bytes]:
    """The chunks of a stream: deltas, the finish reason, the usage if it was asked for, [DONE]."""
    head: dict[str, Any] = {
        "id": f"chatcmpl-{asked.id}",
        "object": "chat.completion.chunk",
        "created": CREATED,
        "model": reply.model or asked.model,
    }
    # With include_usage OpenAI puts "usage": null into every chunk but the one that carries it.
    tail: dict[str, Any] = {"usage": None} if asked.include_usage else {}

    def chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return sse({**head, "choices": [choice], **tail})

    for delta in _deltas(reply):
        yield chunk(delta)
    if reply.finish_reason is not None:
        yield chunk({}, FINISH_REASONS[reply.finish_reason])
    if asked.include_usage:
        yield sse({**head, "choices": [], "usage": usage(reply.usage)})
    yield b"data: [DONE]\n\n"


def _deltas(reply: Reply) -> Iterator[dict[str, Any]]:
    yield {"role": "assistant", "content": ""}
    for piece in pieces(reply.thought, reply.chunk):
        yield {reply.thought_field: piece}
    field = "refusal" if reply.finish_reason == "refusal" else "content"
    for piece in text_pieces(reply):
        yield {field: piece}
    for index, call in enumerate(reply.calls):
        function = {"name": call.name, "arguments": ""}
        yield {"tool_calls": [{"index": index, "id": call.id, "type": "function", "function": function}]}
        for piece in pieces(call.args_text, reply.chunk):
            yield {"tool_calls": [{"index": index, "function": {"arguments": piece}}]}


def whole(reply: Reply, asked: Asked) -> dict[str, Any]:
    """The body of an answer without a stream."""
    refused = reply.finish_reason == "refusal"
    message: dict[str, Any] = {
        "role": "assistant",
        "content": None if refused else reply.text or None,
        "refusal": reply.text if refused else None,
    }
    if reply.thought:
        message[reply.thought_field] = reply.thought
    if reply.calls:
        message["tool_calls"] = [
            {"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.args_text}}
            for call in reply.calls
        ]
    finish = FINISH_REASONS[reply.finish_reason] if reply.finish_reason else None
    return {
        "id": f"chatcmpl-{asked.id}",
        "object": "chat.completion",
        "created": CREATED,
        "model": reply.model or asked.model,
        "choices": [{"index": 0, "message": message, "logprobs": None, "finish_reason": finish}],
        "usage": usage(reply.usage),
    }


def usage(tokens: Usage) -> dict[str, Any]:
    """Token counts in OpenAI's names; its prompt_tokens include what came from the cache."""
    prompt = tokens.input + tokens.cache_read + tokens.cache_write
    return {
        "prompt_tokens": prompt,
        "completion_tokens": tokens.output,
        "total_tokens": prompt + tokens.output,
        "prompt_tokens_details": {
            "cached_tokens": tokens.cache_read,
            "cache_write_tokens": tokens.cache_write,
        },
        "completion_tokens_details": {"reasoning_tokens": tokens.reasoning},
    }
