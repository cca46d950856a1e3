"""Server-sent events out of bytes, however the network cut them."""

from msgspec import Struct

from hermes.protocol.errors import Disconnected

LONGEST_EVENT = 32 << 20
"""Bytes after which an event is taken to be endless."""


class Event(Struct, frozen=True):
    """One event: its name, empty if it has none, and its data."""

    name: str
    data: bytes


class Parser:
    """Takes bytes and gives the events that are whole, by the rules of the HTML standard."""

    def __init__(self) -> None:
        self._line = bytearray()
        self._name = ""
        self._data: list[bytes] = []
        self._size = 0
        self._first = True
        self._after_cr = False

    def feed(self, chunk: bytes) -> list[Event]:
        if self._after_cr and chunk:
            chunk = chunk.removeprefix(b"\n")
            self._after_cr = False
        if not chunk:
            return []
        self._grow(len(chunk))
        self._after_cr = chunk.endswith(b"\r")
        lines = chunk.splitlines()
        unfinished = b"" if self._after_cr or chunk.endswith(b"\n") else lines.pop()
        if lines and self._line:
            lines[0] = bytes(self._line) + lines[0]
            self._line.clear()
        self._line += unfinished
        return self._read(lines)

    def close(self) -> list[Event]:
        """The last event, if the stream ended without the blank line behind it."""
        return self._read([bytes(self._line), b""])

    def _read(self, lines: list[bytes]) -> list[Event]:
        events: list[Event] = []
        if self._first and lines:
            self._first = False
            lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
        for line in lines:
            if not line:
                self._dispatch(events)
                continue
            field, _, value = line.partition(b":")
            if field == b"data":
                self._data.append(value.removeprefix(b" "))
            elif field == b"event":
                self._name = value.removeprefix(b" ").decode("utf-8", "replace")
        return events

    def _dispatch(self, events: list[Event]) -> None:
        if self._data:
            events.append(Event(self._name, b"\n".join(self._data)))
            self._data = []
        self._name = ""
        self._size = 0

    def _grow(self, size: int) -> None:
        self._size += size
        if self._size > LONGEST_EVENT:
            raise Disconnected(f"the answer holds an event of more than {LONGEST_EVENT >> 20} MB")
