"""Replies as the bytes of a dialect: pure functions, so that a decoder can be tested without a network."""

from collections.abc import Iterator
from itertools import islice
from typing import Any

import msgspec

from tests.services.script import Reply
from tests.services.wire import chat, errors, messages, responses
from tests.services.wire.frames import PLAIN, Asked, Dialect, with_call_ids

DIALECTS: tuple[Dialect, ...] = ("chat", "responses", "messages")

PATHS: dict[str, Dialect] = {
    "/v1/chat/completions": "chat",
    "/v1/responses": "responses",
    "/v1/messages": "messages",
}

_EVENTS = {"chat": chat.events, "responses": responses.events, "messages": messages.events}
_WHOLE = {"chat": chat.whole, "responses": responses.whole, "messages": messages.whole}


def stream(dialect: Dialect, reply: Reply, asked: Asked = PLAIN) -> Iterator[bytes]:
    """The SSE events of a reply one by one, with the faults that are made of events."""
    events = _EVENTS[dialect](with_call_ids(reply, asked), asked)
    fault = reply.fault
    if fault.bad_event is not None:
        events = _broken_at(events, fault.bad_event)
    if fault.end == "error":
        count = fault.after_events or 0
        yield from islice(events, count)
        yield errors.event(dialect, fault.error, count)
    else:
        yield from events


def stream_bytes(dialect: Dialect, reply: Reply, asked: Asked = PLAIN) -> list[bytes]:
    """The SSE events of a reply, one element each."""
    _refuse_endless(reply)
    return list(stream(dialect, reply, asked))


def body_bytes(dialect: Dialect, reply: Reply, asked: Asked = PLAIN) -> bytes:
    """The JSON body of a reply to a request without a stream."""
    _refuse_endless(reply)
    whole: dict[str, Any] = _WHOLE[dialect](with_call_ids(reply, asked), asked)
    return msgspec.json.encode(whole)


def _refuse_endless(reply: Reply) -> None:
    if reply.endless:
        raise ValueError("an endless reply has no last byte: ask for a stream and read it piece by piece")


def _broken_at(events: Iterator[bytes], index: int) -> Iterator[bytes]:
    for number, event in enumerate(events):
        if number == index:
            name, data = event.split(b"data: ", 1)
            yield name + b"data: " + data[: len(data) // 2] + b"\n\n"
        else:
            yield event
