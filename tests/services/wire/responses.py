"""Replies as OpenAI Responses."""

from collections.abc import Iterable, Iterator
from typing import Any

from tests.services.script import Reply, Usage
from tests.services.wire.frames import CREATED, Asked, encrypted, pieces, sse, text_pieces

Event = dict[str, Any]


def events(reply: Reply, asked: Asked) -> Iterator[bytes]:
    """The typed events of a stream, numbered; there is no [DONE] in this dialect."""
    for number, event in enumerate(_events(reply, asked)):
        yield sse({**event, "sequence_number": number}, event["type"])


def _events(reply: Reply, asked: Asked) -> Iterator[Event]:
    begun = _response(reply, asked, status="in_progress", output=[])
    yield {"type": "response.created", "response": begun}
    yield {"type": "response.in_progress", "response": begun}
    for index, item in enumerate(_items(reply, asked)):
        place = {"output_index": index}
        yield {"type": "response.output_item.added", **place, "item": _opened(item)}
        yield from _item_events(reply, item, {"item_id": item["id"], **place})
        yield {"type": "response.output_item.done", **place, "item": item}
    if reply.finish_reason is not None:
        done = whole(reply, asked)
        yield {"type": f"response.{done['status']}", "response": done}


def _item_events(reply: Reply, item: Event, place: Event) -> Iterable[Event]:
    match item:
        case {"type": "reasoning", "summary": [part]}:
            texts = pieces(reply.thought, reply.chunk)
            return _part_events("reasoning_summary", {**place, "summary_index": 0}, part, texts)
        case {"type": "message", "content": [part]}:
            return _part_events("content", {**place, "content_index": 0}, part, text_pieces(reply))
        case {"type": "function_call", "arguments": arguments}:
            return _call_events(place, arguments, pieces(arguments, reply.chunk))
        case _:
            raise ValueError(f"an item that no reply has: {item}")


def _part_events(group: str, place: Event, part: Event, texts: Iterable[str]) -> Iterator[Event]:
    """A part of an item: summary_text, output_text or refusal."""
    field = "refusal" if part["type"] == "refusal" else "text"
    name = "reasoning_summary_text" if group == "reasoning_summary" else part["type"]
    extra: Event = {"logprobs": []} if part["type"] == "output_text" else {}
    yield {"type": f"response.{group}_part.added", **place, "part": {**part, field: ""}}
    for text in texts:
        yield {"type": f"response.{name}.delta", **place, "delta": text, **extra}
    yield {"type": f"response.{name}.done", **place, field: part[field], **extra}
    yield {"type": f"response.{group}_part.done", **place, "part": part}


def _call_events(place: Event, arguments: str, texts: Iterable[str]) -> Iterator[Event]:
    for text in texts:
        yield {"type": "response.function_call_arguments.delta", **place, "delta": text}
    yield {"type": "response.function_call_arguments.done", **place, "arguments": arguments}


def _opened(item: Event) -> Event:
    """The item as it looks before its first delta."""
    match item["type"]:
        case "reasoning":
            return {**item, "summary": [], "encrypted_content": ""}
        case "message":
            return {**item, "content": [], "status": "in_progress"}
        case _:
            return {**item, "arguments": "", "status": "in_progress"}


def _items(reply: Reply, asked: Asked) -> Iterator[Event]:
    status = "incomplete" if reply.finish_reason in ("length", "content_filter") else "completed"
    if reply.thought:
        summary = [{"type": "summary_text", "text": reply.thought}]
        seal = encrypted(reply.thought)
        yield {"id": f"rs_{asked.id}", "type": "reasoning", "summary": summary, "encrypted_content": seal}
    if reply.text:
        yield {
            "id": f"msg_{asked.id}",
            "type": "message",
            "status": status,
            "role": "assistant",
            "content": [_text_part(reply)],
        }
    for index, call in enumerate(reply.calls):
        yield {
            "id": f"fc_{asked.id}_{index}",
            "type": "function_call",
            "status": status,
            "call_id": call.id,
            "name": call.name,
            "arguments": call.args_text,
        }


def _text_part(reply: Reply) -> Event:
    if reply.finish_reason == "refusal":
        return {"type": "refusal", "refusal": reply.text}
    return {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}


def whole(reply: Reply, asked: Asked) -> Event:
    """The response object: the body without a stream, and what the last event carries."""
    match reply.finish_reason:
        case None:
            status, details = "in_progress", None
        case "length":
            status, details = "incomplete", {"reason": "max_output_tokens"}
        case "content_filter":
            status, details = "incomplete", {"reason": "content_filter"}
        case _:
            status, details = "completed", None
    done = _response(reply, asked, status=status, output=list(_items(reply, asked)))
    return {**done, "incomplete_details": details, "usage": usage(reply.usage)}


def _response(reply: Reply, asked: Asked, *, status: str, output: list[Event]) -> Event:
    return {
        "id": f"resp_{asked.id}",
        "object": "response",
        "created_at": CREATED,
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "model": reply.model or asked.model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": None,
    }


def usage(tokens: Usage) -> Event:
    """Token counts in the names of this dialect; its input_tokens include what came from the cache."""
    prompt = tokens.input + tokens.cache_read + tokens.cache_write
    return {
        "input_tokens": prompt,
        "input_tokens_details": {
            "cached_tokens": tokens.cache_read,
            "cache_write_tokens": tokens.cache_write,
        },
        "output_tokens": tokens.output,
        "output_tokens_details": {"reasoning_tokens": tokens.reasoning},
        "total_tokens": prompt + tokens.output,
    }
