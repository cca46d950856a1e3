"""Lines out of blocks of bytes, none of them longer than memory should hold."""

from collections.abc import Iterator

from msgspec import Struct

EDGE = 256


class Overlong(Struct, frozen=True):
    """A line that was too long to keep: how it began, how it ended, and its size."""

    head: bytes
    tail: bytes
    size: int


class Lines:
    """Cuts what is fed to it at line feeds; a line longer than `cap` bytes comes out as Overlong."""

    def __init__(self, cap: int) -> None:
        self._cap = cap
        self._line = bytearray()
        self._head = b""
        self._size = 0

    def feed(self, block: bytes) -> Iterator[bytes | Overlong]:
        *ends, rest = block.split(b"\n")
        for end in ends:
            self._add(end)
            yield self._take()
        self._add(rest)

    def rest(self) -> bytes | Overlong:
        """What came after the last line feed; b"" if nothing did."""
        return self._take()

    def _add(self, piece: bytes) -> None:
        self._size += len(piece)
        self._line += piece
        if self._size > self._cap:
            self._head = self._head or bytes(self._line[:EDGE])
            del self._line[:-EDGE]

    def _take(self) -> bytes | Overlong:
        line = bytes(self._line)
        taken = Overlong(self._head, line, self._size) if self._size > self._cap else line
        self._line.clear()
        self._head = b""
        self._size = 0
        return taken
