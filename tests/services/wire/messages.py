"""Replies as Anthropic Messages."""

from collections.abc import Iterable, Iterator
from typing import Any

from tests.services.script import Finish, Reply
from tests.services.wire.frames import Asked, pieces, signature, sse, text_pieces

Event = dict[str, Any]

STOP_REASONS: dict[Finish, str] = {
    "stop": "end_turn",
    "tool_calls": "tool_use",
    "length": "max_tokens",
    "content_filter": "refusal",
    "refusal": "refusal",
}


def events(reply: Reply, asked: Asked) -> Iterator[bytes]:
    """The typed events of a stream."""
    for event in _events(reply, asked):
        yield sse(event, event["type"])


def _events(reply: Reply, asked: Asked) -> Iterator[Event]:
    begun = {**whole(reply, asked), "content": [], "stop_reason": None, "usage": _usage(reply, output=1)}
    yield {"type": "message_start", "message": begun}
    for index, (opened, deltas) in enumerate(_blocks(reply)):
        yield {"type": "content_block_start", "index": index, "content_block": opened}
        if index == 0:
            yield {"type": "ping"}
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    if reply.finish_reason is not None:
        ending = {"stop_reason": STOP_REASONS[reply.finish_reason], "stop_sequence": None}
        yield {"type": "message_delta", "delta": ending, "usage": _usage(reply, output=reply.usage.output)}
    yield {"type": "message_stop"}


def _blocks(reply: Reply) -> Iterator[tuple[Event, Iterable[Event]]]:
    """Each content block as it opens, with the deltas that fill it."""
    if reply.thought:
        yield {"type": "thinking", "thinking": "", "signature": ""}, _thought_deltas(reply)
    if reply.text:
        deltas = ({"type": "text_delta", "text": text} for text in text_pieces(reply))
        yield {"type": "text", "text": ""}, deltas
    for call in reply.calls:
        # A call without arguments streams no JSON at all, not even {}.
        texts = ["", *pieces(call.args_text, reply.chunk)] if call.args else [""]
        deltas = ({"type": "input_json_delta", "partial_json": text} for text in texts)
        yield {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}, deltas


def _thought_deltas(reply: Reply) -> Iterator[Event]:
    for text in pieces(reply.thought, reply.chunk):
        yield {"type": "thinking_delta", "thinking": text}
    yield {"type": "signature_delta", "signature": signature(reply.thought)}


def whole(reply: Reply, asked: Asked) -> Event:
    """The body of an answer without a stream."""
    content: list[Event] = []
    if reply.thought:
        content.append({"type": "thinking", "thinking": reply.thought, "signature": signature(reply.thought)})
    if reply.text:
        content.append({"type": "text", "text": reply.text})
    content.extend({"type": "tool_use", "id": call.id, "name": call.name, "input": call.args} for call in reply.calls)
    return {
        "id": f"msg_{asked.id}",
        "type": "message",
        "role": "assistant",
        "model": reply.model or asked.model,
        "content": content,
        "stop_reason": STOP_REASONS[reply.finish_reason] if reply.finish_reason else None,
        "stop_sequence": None,
        "usage": _usage(reply, output=reply.usage.output),
    }


def _usage(reply: Reply, *, output: int) -> Event:
    """Token counts in Anthropic's names; its input_tokens leave the cache out."""
    tokens = reply.usage
    return {
        "input_tokens": tokens.input,
        "cache_creation_input_tokens": tokens.cache_write,
        "cache_read_input_tokens": tokens.cache_read,
        "output_tokens": output,
        "output_tokens_details": {"thinking_tokens": min(tokens.reasoning, output)},
    }
