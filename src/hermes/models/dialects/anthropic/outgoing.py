"""The model's view to a Messages request."""

from typing import Any

import msgspec
from msgspec import Raw

from hermes.models.dialects.anthropic.seals import unseal
from hermes.models.memo import Memo, Wire
from hermes.models.quirks import Quirks
from hermes.models.view import (
    NO_OUTPUT,
    SAFE_IDS,
    Call,
    Message,
    Picture,
    Said,
    Step,
    contents,
    sealed,
)
from hermes.protocol.items import Part, Reply, Thought
from hermes.protocol.models import ModelRequest

NAME = "anthropic"
DEFAULT_OUTPUT = 8192
MARKED_MESSAGES = 3
THOUGHTS = ("thinking", "redacted_thinking")
BUDGETS = {"minimal": 1024, "low": 2048, "medium": 8192, "high": 16384, "xhigh": 32768}
SMALLEST_BUDGET = 1024


def encode(request: ModelRequest, *, model: str, name: str, quirks: Quirks, memo: Memo | None = None) -> bytes:
    """The body; what stays the same from step to step comes first."""
    settled, latest = _messages(request, name, quirks, memo or Memo())
    limit = request.max_output or DEFAULT_OUTPUT
    body: dict[str, Any] = {"model": model, "stream": True, "max_tokens": limit}
    if quirks.temperature is not None:
        body["temperature"] = quirks.temperature
    body |= _thinking(request.effort, limit, quirks, latest) | quirks.body
    mark = {"type": "ephemeral"} if quirks.cache_ttl == "5m" else {"type": "ephemeral", "ttl": quirks.cache_ttl}
    if request.tools:
        body["tools"] = [
            {"name": tool.name, "description": tool.description, "input_schema": tool.schema} for tool in request.tools
        ]
    if request.system.strip():
        body["system"] = [{"type": "text", "text": request.system, "cache_control": mark}]
    marked = [_marked(message, mark) for message in latest[-MARKED_MESSAGES:]]
    body["messages"] = [*settled, *latest[:-MARKED_MESSAGES], *marked]
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
    return messages[-2]["content"][0]["type"] not in THOUGHTS


def _messages(request: ModelRequest, name: str, quirks: Quirks, memo: Memo) -> tuple[list[Raw], list[Wire]]:
    def add(messages: list[Wire], message: Message) -> None:
        match message:
            case Said(parts=parts):
                _add(messages, "user", _blocks(parts, request.images, quirks))
            case Step():
                _add(messages, "assistant", _said(message, name))
                if message.calls:
                    _add(messages, "user", [_result(call, request.images, quirks) for call in message.calls])

    return memo.messages(request, add, ids=SAFE_IDS, loose=MARKED_MESSAGES)


def _add(messages: list[Wire], role: str, blocks: list[dict[str, Any]]) -> None:
    """Roles alternate. Thoughts stay only where one comes first: a message that thinks, but not at first, is refused."""
    told = messages.pop()["content"] if messages and messages[-1]["role"] == role else []
    if (told or blocks)[0]["type"] not in THOUGHTS:
        blocks = [block for block in blocks if block["type"] not in THOUGHTS]
    messages.append({"role": role, "content": [*told, *blocks]})


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


def _result(call: Call, images: dict[str, bytes], quirks: Quirks) -> dict[str, Any]:
    blocks = _blocks(call.item.result, images, quirks) or [{"type": "text", "text": NO_OUTPUT}]
    result: dict[str, Any] = {"type": "tool_result", "tool_use_id": call.id, "content": blocks}
    return result if call.item.status == "done" else {**result, "is_error": True}


def _marked(message: Wire, mark: dict[str, str]) -> Wire:
    """The message with a mark that lets the cache reach to its end; a thought cannot carry the mark."""
    blocks = list(message["content"])
    place = max(place for place, block in enumerate(blocks) if block["type"] not in THOUGHTS)
    blocks[place] = {**blocks[place], "cache_control": mark}
    return {**message, "content": blocks}
