"""From the bytes of a response to deltas, without any input or output, so that every cut can be tested."""

from collections.abc import Iterable
from typing import Protocol

import msgspec

from hermes.models import faults
from hermes.models.answer import Answer
from hermes.models.halves import Halves
from hermes.models.sse import LONGEST_EVENT, Event, Parser
from hermes.protocol.errors import BadRequest, Disconnected
from hermes.protocol.models import Delta

BLANK = b" \t\r\n\xef\xbb\xbf"
UNREADABLE = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class Reader(Protocol):
    """What one dialect makes of its events; it tells the answer, and raises ModelError where the provider does."""

    @property
    def answer(self) -> Answer: ...

    def event(self, name: str, data: bytes) -> None: ...

    def whole(self, data: bytes) -> None:
        """Take in an answer that came as one JSON object, though a stream was asked for."""
        ...

    def close(self) -> None:
        """There is no more: finish the answer if its finish reason came."""
        ...


class Decoder:
    """Bytes in, deltas out; a stream that ends without a finish reason is no answer."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._events = Parser()
        self._halves = Halves()
        self._body: bytearray | None = None
        self._undecided = True

    def feed(self, data: bytes) -> list[Delta]:
        if self._undecided:
            self._decide(data)
        if self._body is None:
            self._read(self._events.feed(data))
        else:
            self._body += data
            if len(self._body) > LONGEST_EVENT:
                raise Disconnected(f"the answer is larger than {LONGEST_EVENT >> 20} MB")
        return self._reader.answer.take()

    def close(self) -> list[Delta]:
        """The last deltas; raises Disconnected if the answer is not whole."""
        if self._body is not None:
            self._read_whole(bytes(self._body))
        else:
            self._read(self._events.close(), last=True)
        self._reader.close()
        if not self._reader.answer.finished:
            raise Disconnected("the answer was cut off before its end")
        return self._reader.answer.take()

    def _decide(self, data: bytes) -> None:
        """No line of an event stream begins with a bracket; JSON and web pages always do."""
        start = data.lstrip(BLANK)[:1]
        if start:
            self._undecided = False
            self._body = bytearray() if start in b"{[<" else None

    def _read(self, events: Iterable[Event], *, last: bool = False) -> None:
        """Take events in until the answer is finished; events without data are signs of life."""
        for event in events:
            if self._reader.answer.finished or not event.data.strip():
                continue
            try:
                self._take(event)
            except UNREADABLE as error:
                # The end of the stream may have cut its last event: what cannot be read of it never came.
                if not last:
                    raise Disconnected(f"the answer holds an event that cannot be read: {error}") from error

    def _take(self, event: Event) -> None:
        try:
            self._reader.event(event.name, event.data)
        except UNREADABLE:
            mended = self._halves.mend(event.data)
            if mended == event.data:
                raise
            self._reader.event(event.name, mended)

    def _read_whole(self, data: bytes) -> None:
        data = data.strip(BLANK)
        if data.startswith(b"<"):
            page = faults.one_line(data.decode("utf-8", "replace"))
            raise BadRequest(f"the server answered with a web page ({page}): check base_url")
        try:
            self._reader.whole(data)
        except UNREADABLE as error:
            raise Disconnected(f"the answer cannot be read: {error}") from error
