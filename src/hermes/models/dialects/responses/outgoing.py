"""The model's view to the input of a response."""

from typing import Any

import msgspec
from msgspec import Raw

from hermes.models.memo import Memo, Wire
from hermes.models.quirks import Quirks
from hermes.models.view import Call, Message, Picture, Said, Step, contents, result_of, sealed
from hermes.protocol.items import Reply, Thought
from hermes.protocol.models import ModelRequest

NAME = "responses"
SMALLEST_OUTPUT = 16


def encode(request: ModelRequest, *, model: str, name: str, quirks: Quirks, memo: Memo | None = None) -> bytes:
    """The body; what stays the same from step to step comes first."""
    body: dict[str, Any] = {"model": model, "stream": True, "store": False}
    if request.max_output:
        body["max_output_tokens"] = max(SMALLEST_OUTPUT, request.max_output)
    if quirks.temperature is not None:
        body["temperature"] = quirks.temperature
    body |= _reasoning(request.effort, quirks) | quirks.body
    if request.system.strip():
        body["instructions"] = request.system
    if request.tools:
        body["tools"] = [
            {
                "type": "function",
                "name": tool.name,
                "description": tool.description,
                "parameters": tool.schema,
                # Left out it would be true, and then every schema must name all its properties as required.
                "strict": False,
            }
            for tool in request.tools
        ]
    body["input"] = _input(request, name, quirks, memo or Memo())
    return msgspec.json.encode(body)


def _reasoning(effort: str, quirks: Quirks) -> dict[str, Any]:
    if quirks.effort == "none":
        return {}
    wanted: dict[str, Any] = {}
    if effort:
        wanted["effort"] = quirks.top_effort if effort == "xhigh" else effort
    if quirks.summaries:
        wanted["summary"] = "auto"
    asked = {"include": ["reasoning.encrypted_content"]}
    return asked | {"reasoning": wanted} if wanted else asked


def _input(request: ModelRequest, name: str, quirks: Quirks, memo: Memo) -> list[Wire | Raw]:
    def add(items: list[Wire], message: Message) -> None:
        match message:
            case Said(parts=parts):
                items.append(_user(contents(parts, request.images, pictures=quirks.images)))
            case Step():
                items.extend(_said(message, name))
                items.extend(_results(message, request.images, quirks))

    settled, latest = memo.messages(request, add)
    return [*settled, *latest]


def _user(found: list[str | Picture]) -> dict[str, Any]:
    parts = [
        {"type": "input_image", "image_url": content.url}
        if isinstance(content, Picture)
        else {"type": "input_text", "text": content}
        for content in found
    ]
    return {"type": "message", "role": "user", "content": parts}


def _said(step: Step, name: str) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    for part in step.parts:
        match part:
            case Thought(text=text, opaque=opaque):
                if kept := sealed(opaque, NAME, name):
                    items.append(_thought(text, msgspec.json.decode(kept)))
            case Reply(text=text, opaque=opaque):
                kept = sealed(opaque, NAME, name)
                phase = msgspec.json.decode(kept) if kept else {}
                said = {"type": "message", "role": "assistant", **phase}
                items.append({**said, "content": [{"type": "output_text", "text": text}]})
            case Call(id=call_id, name=tool, args=args):
                items.append({"type": "function_call", "call_id": call_id, "name": tool, "arguments": args})
    # Reasoning is refused without what it led to.
    while items and items[-1]["type"] == "reasoning":
        items.pop()
    return items


def _thought(text: str, kept: dict[str, str]) -> dict[str, Any]:
    summary = [{"type": "summary_text", "text": text}] if text else []
    named = {"id": kept["id"]} if kept["id"] else {}
    return {"type": "reasoning", **named, "summary": summary, "encrypted_content": kept["encrypted"]}


def _results(step: Step, images: dict[str, bytes], quirks: Quirks) -> list[dict[str, Any]]:
    """Outputs are text; pictures follow in a message of their own."""
    items: list[dict[str, Any]] = []
    shown: list[str | Picture] = []
    for call in step.calls:
        text, pictures = result_of(call, images, pictures=quirks.images)
        items.append({"type": "function_call_output", "call_id": call.id, "output": text})
        if pictures:
            shown += [f"Pictures from {call.name}:", *pictures]
    if shown:
        items.append(_user(shown))
    return items
