"""The model's view to a chat request."""

from typing import Any

import msgspec
from msgspec import Raw

from hermes.models.dialects.chat.chunks import merge
from hermes.models.memo import Memo, Wire
from hermes.models.quirks import Quirks
from hermes.models.view import (
    PLAIN_IDS,
    SHORT_IDS,
    Message,
    Picture,
    Said,
    Step,
    contents,
    result_of,
    sealed,
)
from hermes.protocol.items import Thought
from hermes.protocol.models import ModelRequest

NAME = "chat"
MARKED_MESSAGES = 3


def encode(request: ModelRequest, *, model: str, name: str, quirks: Quirks, memo: Memo | None = None) -> bytes:
    """The body; what stays the same from step to step comes first."""
    body: dict[str, Any] = {"model": model, "stream": True}
    if quirks.stream_options:
        body["stream_options"] = {"include_usage": True}
    if request.max_output:
        body[quirks.max_tokens_field] = request.max_output
    if quirks.temperature is not None:
        body["temperature"] = quirks.temperature
    body |= _effort(request.effort, quirks) | quirks.body
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "function": {"name": tool.name, "description": tool.description, "parameters": tool.schema},
            }
            for tool in request.tools
        ]
    body["messages"] = _messages(request, name, quirks, memo or Memo())
    return msgspec.json.encode(body)


def _effort(effort: str, quirks: Quirks) -> dict[str, Any]:
    if not effort or quirks.effort == "none":
        return {}
    word = quirks.top_effort if effort == "xhigh" else effort
    match quirks.effort:
        case "object":
            return {"reasoning": {"effort": word}}
        case "switch":
            return {"thinking": {"type": "disabled" if word == "none" else "enabled"}}
        case _:
            return {"reasoning_effort": word}


def _messages(request: ModelRequest, name: str, quirks: Quirks, memo: Memo) -> list[Wire | Raw]:
    def add(messages: list[Wire], message: Message) -> None:
        match message:
            case Said(parts=parts):
                found = contents(parts, request.images, pictures=quirks.images)
                messages.append({"role": "user", "content": _content(found)})
            case Step():
                messages.append(_assistant(message, name, quirks))
                messages.extend(_results(message, request.images, quirks))

    system = [{"role": "system", "content": request.system}] if request.system.strip() else []
    # An assistant message that only calls cannot be marked; a result follows each.
    loose = 2 * MARKED_MESSAGES if quirks.cache_marks else 0
    ids = SHORT_IDS if quirks.short_call_ids else PLAIN_IDS
    settled, latest = memo.messages(request, add, ids=ids, loose=loose)
    if quirks.cache_marks:
        system, latest = _marked(system, quirks), _marked(latest, quirks)
    return [*system, *settled, *latest]


def _content(found: list[str | Picture]) -> str | list[dict[str, Any]]:
    if not any(isinstance(content, Picture) for content in found):
        return "\n".join(content for content in found if isinstance(content, str))
    return [
        {"type": "image_url", "image_url": {"url": content.url}}
        if isinstance(content, Picture)
        else {"type": "text", "text": content}
        for content in found
    ]


def _assistant(step: Step, name: str, quirks: Quirks) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": step.text or None}
    own = [part for part in step.parts if isinstance(part, Thought) and sealed(part.opaque, NAME, name)]
    if quirks.reasoning_back:
        # DeepSeek and Kimi refuse a message without it, also one that another model wrote, and an empty one too.
        message["reasoning_content"] = "".join(thought.text for thought in own) or " "
    details = [detail for thought in own for detail in _kept(sealed(thought.opaque, NAME, name), "details")]
    if details:
        message["reasoning_details"] = merge(details)
    if step.calls:
        message["tool_calls"] = []
    for call in step.calls:
        function = {"name": call.name, "arguments": call.args}
        sent: dict[str, Any] = {"id": call.id, "type": "function", "function": function}
        extra = _kept(sealed(call.item.opaque, NAME, name), "extra_content") or quirks.unsigned_call
        if extra:
            sent["extra_content"] = extra
        message["tool_calls"].append(sent)
    return message


def _kept(opaque: str, field: str) -> Any:
    return msgspec.json.decode(opaque).get(field, ()) if opaque else ()


def _results(step: Step, images: dict[str, bytes], quirks: Quirks) -> list[dict[str, Any]]:
    """A tool message holds only text, so pictures follow in a message of their own behind all results."""
    messages: list[dict[str, Any]] = []
    shown: list[str | Picture] = []
    for call in step.calls:
        text, pictures = result_of(call, images, pictures=quirks.images)
        messages.append({"role": "tool", "tool_call_id": call.id, "content": text})
        if pictures:
            shown += [f"Pictures from {call.name}:", *pictures]
    if shown:
        messages.append({"role": "user", "content": _content(shown)})
    return messages


def _marked(messages: list[Wire], quirks: Quirks) -> list[Wire]:
    """The messages with a mark on the last three that hold anything."""
    mark = {"type": "ephemeral"} if quirks.cache_ttl == "5m" else {"type": "ephemeral", "ttl": quirks.cache_ttl}
    marked = list(messages)
    for place in [place for place, message in enumerate(messages) if message["content"]][-MARKED_MESSAGES:]:
        content = messages[place]["content"]
        parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
        marked[place] = {**messages[place], "content": [*parts[:-1], {**parts[-1], "cache_control": mark}]}
    return marked
