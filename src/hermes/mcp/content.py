"""What a server sent back, as parts of a result: text, pictures, and references to what is neither."""

import base64
import binascii
from collections.abc import Awaitable, Callable
from itertools import groupby
from typing import Any

import msgspec

from hermes.protocol.items import Image, Part, Text

PICTURES = frozenset({"image/png", "image/jpeg", "image/gif", "image/webp"})
"""What every model that sees can look at; other pictures are kept and referred to."""
Keep = Callable[[bytes, str], Awaitable[str]]


async def called(result: Any, keep: Keep) -> tuple[Part, ...]:
    """The parts of a tool's result: its content, and what is structured where no text says the same."""
    parts = [part for block in result.content for part in await _block(block, keep)]
    structured = result.structured_content
    if structured is not None and not _says(parts, structured):
        parts.append(Text(msgspec.json.encode(structured).decode()))
    return _joined(parts)


async def resource(result: Any, keep: Keep) -> tuple[Part, ...]:
    """The contents of a resource that was read."""
    alone = len(result.contents) == 1
    return _joined([part for one in result.contents for part in await _contents(one, keep, named=not alone)])


async def prompt(result: Any, keep: Keep) -> tuple[Part, ...]:
    """A prompt's messages, each behind its role."""
    parts: list[Part] = [Text(result.description)] if result.description else []
    for message in result.messages:
        parts += [Text(f"[{message.role}]"), *await _block(message.content, keep)]
    return _joined(parts)


def resources(result: Any) -> tuple[Part, ...]:
    """One line for each resource."""
    lines = [_line(one.uri, one) for one in result.resources]
    return (Text("\n".join(lines) or "There are no resources."),)


def prompts(result: Any) -> tuple[Part, ...]:
    """One line for each prompt, with its arguments."""
    lines = []
    for one in result.prompts:
        takes = ", ".join(arg.name if arg.required else f"{arg.name}?" for arg in one.arguments or ())
        lines.append(f"{one.name}({takes})" + (f": {one.description}" if one.description else ""))
    return (Text("\n".join(lines) or "There are no prompts."),)


async def _block(block: Any, keep: Keep) -> list[Part]:
    match block.type:
        case "text":
            return [Text(block.text)]
        case "image" | "audio":
            return [await _bytes(block.data, block.mime_type, "", keep)]
        case "resource_link":
            return [Text(f"[resource: {_line(block.uri, block)}]")]
        case "resource":
            return await _contents(block.resource, keep, named=True)
        case other:
            return [Text(f"[{other}: a kind of content that is not known here]")]


async def _contents(contents: Any, keep: Keep, *, named: bool) -> list[Part]:
    if hasattr(contents, "text"):
        return [Text(f"[resource: {contents.uri}]\n{contents.text}" if named else contents.text)]
    return [await _bytes(contents.blob, contents.mime_type or "application/octet-stream", contents.uri, keep)]


async def _bytes(encoded: str, media_type: str, uri: str, keep: Keep) -> Part:
    what = f"{uri}, {media_type}" if uri else media_type
    try:
        data = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        return Text(f"[{what}: what the server sent cannot be read]")
    blob = await keep(data, media_type)
    if media_type in PICTURES:
        return Image(blob, media_type, uri)
    return Text(f"[{what}: {len(data):,} bytes, kept as blob:{blob[:16]}]")


def _line(uri: str, described: Any) -> str:
    kind = f" ({described.mime_type})" if described.mime_type else ""
    about = ", ".join(filter(None, (described.title or described.name, described.description)))
    return f"{uri}{kind}" + (f": {about}" if about else "")


def _says(parts: list[Part], structured: Any) -> bool:
    """Whether a text already holds the structured result: the SDKs send both, and wrap a bare value as {"result": …}."""
    bare = structured["result"] if isinstance(structured, dict) and structured.keys() == {"result"} else structured
    for part in parts:
        if not isinstance(part, Text):
            continue
        if part.text == bare:
            return True
        try:
            if msgspec.json.decode(part.text) in (structured, bare):
                return True
        except (msgspec.DecodeError, RecursionError):
            continue
    return False


def _joined(parts: list[Part]) -> tuple[Part, ...]:
    """Neighbouring texts as one, so that the cap on a result holds for them together."""
    joined: list[Part] = []
    for is_text, run in groupby(parts, key=lambda part: isinstance(part, Text)):
        same = list(run)
        joined += [Text("\n".join(part.text for part in same if isinstance(part, Text)))] if is_text else same
    return tuple(joined)
