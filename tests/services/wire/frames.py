"""What the three dialects share: the frame of an answer and of an event, pieces of text, ids and seals."""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import cycle
from typing import Any, Literal

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from tests.services.script import Reply

Dialect = Literal["chat", "responses", "messages"]

CREATED = 1_760_000_000


class Asked(Struct, frozen=True):
    """What an answer takes from its request, and the id that sets it apart."""

    id: str = "1"
    model: str = "scripted"
    include_usage: bool = True


PLAIN = Asked()


class Answer(Struct, frozen=True):
    """An HTTP answer: with one body, or with a stream of parts in chunked encoding."""

    status: int
    headers: dict[str, str]
    body: bytes | Iterator[bytes]


def sse(data: Any, event: str | None = None) -> bytes:
    """One server-sent event."""
    name = f"event: {event}\n".encode() if event else b""
    return name + b"data: " + msgspec.json.encode(data) + b"\n\n"


def pieces(text: str, size: int) -> list[str]:
    """The text in pieces of so many characters."""
    return [text[start : start + size] for start in range(0, len(text), size)]


def text_pieces(reply: Reply) -> Iterable[str]:
    """The pieces of the reply's text; without end if it is endless."""
    once = pieces(reply.text, reply.chunk)
    return cycle(once) if reply.endless else once


def with_call_ids(reply: Reply, asked: Asked) -> Reply:
    """The reply with an id for each call that came without one."""
    calls = tuple(
        call if call.id else replace(call, id=f"call_{asked.id}_{index}") for index, call in enumerate(reply.calls)
    )
    return replace(reply, calls=calls)


def signature(thought: str) -> str:
    """The seal that Anthropic puts on a thinking block; it must come back with the very same text."""
    return "sig_" + hashlib.sha256(thought.encode()).hexdigest()[:16]


def encrypted(thought: str) -> str:
    """What stands in `encrypted_content` of a reasoning item of the Responses dialect."""
    return "enc_" + hashlib.sha256(thought.encode()).hexdigest()[:16]
