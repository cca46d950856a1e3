"""The model's view as a conversation that every provider accepts.

Neighbours become messages: what people and processes said, and what the model said and called in one step. Ids of
calls are unique, names and arguments are of a form that is never refused, and the first and last word is not the model's.
"""

import re
import zlib
from base64 import b64encode
from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet

from msgspec import Struct

from hermes.models.answer import is_object
from hermes.protocol.items import (
    Attachment,
    Image,
    Item,
    Opaque,
    Part,
    Plan,
    Reply,
    Summary,
    Text,
    Thought,
    ToolCall,
    UserMessage,
)

NO_OUTPUT = "(no output)"
GO_ON = "(continue)"
PICTURES = ("image/png", "image/jpeg", "image/gif", "image/webp")

PLAIN_IDS = r"[!-~]{1,40}"
SAFE_IDS = r"[A-Za-z0-9_-]{1,40}"
SHORT_IDS = r"[A-Za-z0-9]{9}"
"""Which ids of calls a provider takes. A call keeps its own if it can: some models are trained on theirs."""


class Picture(Struct, frozen=True):
    """A picture as it is sent, its bytes in base64."""

    media_type: str
    data: str

    @property
    def url(self) -> str:
        return f"data:{self.media_type};base64,{self.data}"


class Call(Struct, frozen=True):
    """A tool call as it can be sent; `args` is a JSON object."""

    id: str
    name: str
    args: str
    item: ToolCall


class Said(Struct, frozen=True):
    """What somebody else than the model said."""

    parts: tuple[Part, ...]


class Step(Struct, frozen=True):
    """What one model call gave, in order."""

    parts: tuple[Thought | Reply | Call, ...]

    @property
    def calls(self) -> tuple[Call, ...]:
        return tuple(part for part in self.parts if isinstance(part, Call))

    @property
    def text(self) -> str:
        return "\n\n".join(part.text for part in self.parts if isinstance(part, Reply))


Message = Said | Step


class Conversation:
    """The messages of items that are told in order, whole steps at a time. It begins with somebody's words."""

    def __init__(self, ids: str = PLAIN_IDS) -> None:
        self._ids = _Ids(ids)
        self._last: Message | None = None

    def go_on(self, items: Sequence[Item]) -> list[Message]:
        """The messages of whole steps, behind those that were told before."""
        messages = self._next(items, self._ids)
        self._last = messages[-1] if messages else self._last
        return messages

    def end(self, items: Sequence[Item]) -> list[Message]:
        """The messages of the rest, up to words or results. They are not held to be told: the rest may yet grow."""
        messages = self._next(items, self._ids.apart())
        last = messages[-1] if messages else self._last
        if last is None or (isinstance(last, Step) and not last.calls):
            messages.append(Said((Text(GO_ON),)))
        return messages

    def _next(self, items: Sequence[Item], ids: "_Ids") -> list[Message]:
        messages = _group(items, ids)
        if self._last is None and messages and isinstance(messages[0], Step):
            messages.insert(0, Said((Text(GO_ON),)))
        return messages


def conversation(items: Sequence[Item], ids: str = PLAIN_IDS) -> list[Message]:
    """All messages in order. They begin with somebody's words and end with words or results."""
    return Conversation(ids).end(items)


def whole_steps(items: Sequence[Item]) -> int:
    """How many items belong to steps that nothing can be added to: all but those of the last one."""
    count = len(items)
    while count and items[count - 1].step == items[-1].step:
        count -= 1
    return count


def pictures_in(items: Iterable[Item]) -> set[str]:
    """The blobs of the pictures that some items show."""
    return {
        part.blob
        for item in items
        if isinstance(item, UserMessage | ToolCall)
        for part in (item.parts if isinstance(item, UserMessage) else item.result)
        if isinstance(part, Image)
    }


def contents(parts: Iterable[Part], images: dict[str, bytes], *, pictures: bool = True) -> list[str | Picture]:
    """Parts as texts and pictures; what cannot be sent is named in a line of text, what is blank is left out."""
    found: list[str | Picture] = []
    for part in parts:
        match part:
            case Text(text=text):
                found.append(text)
            case Image(blob=blob, media_type=media_type) if pictures and blob in images and media_type in PICTURES:
                found.append(Picture(media_type, b64encode(images[blob]).decode()))
            case Image(media_type=media_type, name=name):
                found.append(f"[a picture that cannot be shown here: {name or media_type}]")
            case Attachment(media_type=media_type, name=name, size=size):
                found.append(f"[attached file: {name or 'unnamed'} ({media_type}, {size} bytes)]")
    return [content for content in found if isinstance(content, Picture) or content.strip()]


def result_of(call: Call, images: dict[str, bytes], *, pictures: bool = True) -> tuple[str, tuple[Picture, ...]]:
    """What a call gave: its text, never empty, and its pictures."""
    found = contents(call.item.result, images, pictures=pictures)
    text = "\n".join(content for content in found if isinstance(content, str))
    return text or NO_OUTPUT, tuple(content for content in found if isinstance(content, Picture))


def sealed(opaque: Opaque | None, dialect: str, name: str) -> str:
    """What came with an item and goes back with it, if it came from this dialect and model."""
    return opaque.data if opaque and (opaque.dialect, opaque.model) == (dialect, name) else ""


class _Ids:
    """Gives each call an id that no earlier one has, the same each time the view is sent."""

    def __init__(self, form: str, taken: AbstractSet[str] = frozenset()) -> None:
        self._form = form
        self._prefix = "" if form == SHORT_IDS else "call_"
        self._taken = taken
        self._given: set[str] = set()

    def apart(self) -> "_Ids":
        """Ids for calls behind these, which are forgotten again."""
        return _Ids(self._form, self._given)

    def of(self, call_id: str) -> str:
        found, count = call_id, 0
        while not re.fullmatch(self._form, found) or found in self._given or found in self._taken:
            count += 1
            found = f"{self._prefix}{zlib.crc32(f'{call_id}#{count}'.encode()):09x}"
        self._given.add(found)
        return found


def _group(items: Sequence[Item], ids: _Ids) -> list[Message]:
    messages: list[Message] = []
    said: list[Said] = []
    parts: list[Thought | Reply | Call] = []
    step = 0

    def close() -> None:
        # A thought that led to nothing is refused by those who take thoughts at all.
        if any(not isinstance(part, Thought) for part in parts):
            messages.append(Step(tuple(parts)))
        messages.extend(said)
        parts.clear()
        said.clear()

    for item in items:
        if item.step != step:
            close()
            step = item.step
        match item:
            case UserMessage(parts=words) if not all(map(_is_blank, words)):
                said.append(Said(words))
            case Summary(text=text) if text.strip():
                said.append(Said((Text(text),)))
            case Reply(text=text) if not text.strip():
                continue
            case Thought() | Reply() | ToolCall():
                # Words ahead of the step's first part stay there; among its parts they would part calls from results.
                if not parts:
                    messages.extend(said)
                    said.clear()
                parts.append(_sendable(item, ids) if isinstance(item, ToolCall) else item)
            case UserMessage() | Summary() | Plan():
                continue
    close()
    return messages


def _is_blank(part: Part) -> bool:
    return isinstance(part, Text) and not part.text.strip()


def _sendable(item: ToolCall, ids: _Ids) -> Call:
    """A call that the model made up or that was cut is in the history too; its result says what was wrong."""
    name = re.sub(r"[^A-Za-z0-9_-]", "_", item.name)[:64] or "unnamed"
    args = item.args if is_object(item.args) else "{}"
    return Call(ids.of(item.call_id), name, args, item)
