"""An MCP server's wish for a model's answer: its messages become a request, the answer a CreateMessageResult."""

import base64
import hashlib
from collections.abc import Mapping, Sequence
from contextlib import aclosing
from typing import Any

import msgspec
from msgspec import Raw

from hermes.mcp.contract import Sample
from hermes.protocol.items import Image, Item, Part, Reply, Text, ToolCall, UserMessage
from hermes.protocol.models import Began, Ended, Finished, Grew, Model, ModelRequest, Retrying, ToolSpec

STOPPED = {"stop": "endTurn", "calls": "toolUse", "length": "maxTokens", "refused": "refusal"}
Json = Mapping[str, Any]


async def sample(model: Model, wish: Sample) -> dict[str, Any]:
    """Ask the model once, outside of any session; a ModelError is the caller's to tell. The wish for a temperature, or that
    a tool must be used, is not passed on: not every model takes it."""
    images: dict[str, bytes] = {}
    request = ModelRequest(
        system=wish.system,
        tools=tuple(_spec(tool) for tool in wish.tools) if wish.tool_choice != "none" else (),
        items=_items(wish.messages, images),
        max_output=wish.max_tokens or None,
        images=images,
    )
    parts: dict[int, Began] = {}
    texts: dict[int, str] = {}
    reason, name = "stop", model.name
    async with aclosing(model.stream(request)) as deltas:
        async for delta in deltas:
            match delta:
                case Began(index=index):
                    parts[index], texts[index] = delta, ""
                case Grew(index=index, text=text):
                    texts[index] += text
                case Retrying():
                    parts.clear()
                case Finished():
                    reason, name = delta.reason, delta.model or name
                case Ended():
                    pass
    said = "".join(texts[index] for index, part in sorted(parts.items()) if part.kind == "text")
    said, stopped = _until(said, wish.stop)
    calls = [_call(part, texts[index]) for index, part in sorted(parts.items()) if part.kind == "call"]
    text = {"type": "text", "text": said}
    return {
        "role": "assistant",
        "content": [text, *calls] if said and calls else calls or text,
        "model": name,
        "stopReason": "stopSequence" if stopped else STOPPED[reason],
    }


def _until(text: str, stops: tuple[str, ...]) -> tuple[str, bool]:
    """The text before the first stop sequence, and whether there was one."""
    ends = [at for stop in stops if stop and (at := text.find(stop)) >= 0]
    return (text[: min(ends)], True) if ends else (text, False)


def _call(part: Began, text: str) -> dict[str, Any]:
    return {"type": "tool_use", "id": part.call_id, "name": part.name, "input": msgspec.json.decode(text or "{}")}


def _spec(tool: Json) -> ToolSpec:
    return ToolSpec(tool["name"], tool.get("description") or "", Raw(msgspec.json.encode(tool["inputSchema"])))


def _items(messages: Sequence[Json], images: dict[str, bytes]) -> tuple[Item, ...]:
    """Messages as items; a tool's result joins the call that it answers."""
    items: list[Item] = []
    calls: dict[str, int] = {}
    for step, message in enumerate(messages, 1):
        content = message["content"]
        for index, block in enumerate(content if isinstance(content, list) else [content]):
            place: dict[str, Any] = {"id": f"m{step}.{index}", "turn": 1, "step": step, "index": index}
            match block.get("type"):
                case "tool_use":
                    args = msgspec.json.encode(block.get("input") or {}).decode()
                    calls[block["id"]] = len(items)
                    call = ToolCall(**place, call_id=block["id"], name=block["name"], args=args, status="done")
                    items.append(call)
                case "tool_result":
                    at = calls.get(block["toolUseId"])
                    result = tuple(_part(each, images) for each in block.get("content") or ())
                    if at is not None and isinstance(call := items[at], ToolCall):
                        items[at] = msgspec.structs.replace(call, result=result)
                case _ if message["role"] == "assistant":
                    items.append(Reply(**place, text=block.get("text") or ""))
                case _:
                    items.append(UserMessage(**place, parts=(_part(block, images),), trust="untrusted"))
    return tuple(items)


def _part(block: Json, images: dict[str, bytes]) -> Part:
    if block.get("type") != "image":
        return Text(block.get("text") or f"[{block.get('type', 'nothing')}]")
    data = base64.b64decode(block["data"])
    ref = hashlib.sha256(data).hexdigest()
    images[ref] = data
    return Image(ref, block["mimeType"])
