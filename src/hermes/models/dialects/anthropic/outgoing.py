"""The model's view to a Messages request."""

from typing import Any

import msgspec
from msgspec import Raw

from hermes.models.dialects.anthropic.seals import unseal
from hermes.models.quirks import Quirks
from hermes.models.view import (
    NO_OUTPUT,
    SAFE_IDS,
    Call,
    Picture,
    Said,
    Step,
    contents,
    conversation,
    sealed,
)
from hermes.protocol.items import Part, Reply, Thought
from hermes.protocol.models import ModelRequest

NAME = "anthropic"
DEFAULT_OUTPUT = 8192
MARKED_MESSAGES = 3
BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 32768}
SMALLEST_BUDGET = 1024


def encode(request: ModelRequest, *, model: str, name: str, quirks: Quirks) -> bytes:
    """The body; what stays the same from step to step comes first."""
    messages = _conversation(request, name, quirks)
    limit = request.max_output or DEFAULT_OUTPUT
    body: dict[str, Any] = {"model": model, "stream": True, "max_tokens": limit}
    if quirks.temperature is not None:
        body["temperature"] = quirks.temperature
    body |= _thinking(request.effort, limit, quirks, messages) | quirks.body
    mark = {"type": "ephemeral"} if quirks.cache_ttl == "5m" else {"type": "ephemeral", "ttl": quirks.cache_ttl}
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in request.tools
        ]
    if request.system.strip():
        body["system"] = [{"type": "text", "text": request.system, "cache_control": mark}]
    for message in messages[-MARKED_MESSAGES:]:
        _mark(message["content"], mark)
    body["messages"] = messages
    return msgspec.json.encode(body)


def _thinking(effort: str, limit: int, quirks: Quirks, messages: list[dict[str, Any]]) -> dict[str, Any]:
    if effort in ("", "none") or quirks.effort == "none":
        return {}
    if quirks.effort == "adaptive":
        word = quirks.top_effort if effort == "xhigh" else effort
        return {
            "thinking": {"type": "adaptive", "display": "summarized"},
            "output_config": {"effort": word},
        }
    budget = min(BUDGETS.get(effort, BUDGETS["medium"]), limit // 2)
    if budget < SMALLEST_BUDGET or _is_amid_unthought_calls(messages):
        return {}
    return {"thinking": {"type": "enabled", "budget_tokens": budget}}


def _is_amid_unthought_calls(messages: list[dict[str, Any]]) -> bool:
    """With a budget, a step whose results are being sent must begin with its thought; another model's was left out."""
    if messages[-1]["content"][0]["type"] != "tool_result":
        return False
    return messages[-2]["content"][0]["type"] not in ("thinking", "redacted_thinking")


def _conversation(request: ModelRequest, name: str, quirks: Quirks) -> list[dict[str, Any]]:
    """Messages of alternating roles, as the API wants them."""
    messages: list[dict[str, Any]] = []

    def add(role: str, blocks: list[dict[str, Any]]) -> None:
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"] += blocks
        else:
            messages.append({"role": role, "content": blocks})

    for message in conversation(request.items, SAFE_IDS):
        match message:
            case Said(parts=parts):
                add("user", _blocks(parts, request.images, quirks))
            case Step():
                add("assistant", _said(message, name))
                if message.calls:
                    add("user", [_result(call, request.images, quirks) for call in message.calls])
    for message in messages:
        message["content"] = _led_by_thought(message["content"])
    return messages


def _blocks(parts: tuple[Part, ...], images: dict[str, bytes], quirks: Quirks) -> list[dict[str, Any]]:
    return [
        {
            "type": "image",
            "source": {"type": "base64", "media_type": content.media_type, "data": content.data},
        }
        if isinstance(content, Picture)
        else {"type": "text", "text": content}
        for content in contents(parts, images, pictures=quirks.images)
    ]


def _said(step: Step, name: str) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    for part in step.parts:
        match part:
            case Thought(text=text, opaque=opaque):
                if kept := sealed(opaque, NAME, name):
                    blocks += unseal(kept, text)
            case Reply(text=text):
                blocks.append({"type": "text", "text": text})
            case Call(id=call_id, name=tool, args=args):
                blocks.append({"type": "tool_use", "id": call_id, "name": tool, "input": Raw(args.encode())})
    return blocks


def _led_by_thought(blocks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Thoughts stay only where a thought comes first: the API refuses a message that thinks later but not at first."""
    thoughts = ("thinking", "redacted_thinking")
    if blocks[0]["type"] in thoughts:
        return blocks
    return [block for block in blocks if block["type"] not in thoughts]


def _result(call: Call, images: dict[str, bytes], quirks: Quirks) -> dict[str, Any]:
    blocks = _blocks(call.item.result, images, quirks) or [{"type": "text", "text": NO_OUTPUT}]
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": call.id, "content": blocks}
    return result if call.item.status == "done" else {**result, "is_error": True}


def _mark(blocks: list[dict[str, Any]], mark: dict[str, str]) -> None:
    """Let the cache reach to the end of a message; a thought cannot carry the mark."""
    for block in reversed(blocks):
        if block["type"] not in ("thinking", "redacted_thinking"):
            block["cache_control"] = mark
            return
