"""What a command prints, kept within bounds: its head and tail, or its newest part; and as plain text."""

import codecs
import re
from collections.abc import Callable

RING = 200_000

# Colours and cursor moves (CSI), titles and links (OSC and its kin, ended by BEL or ST), and the short ones.
_ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[ -/]+[0-~]|\x1b[0-OQ-WYZ\\`-~]"
)


def plain(text: str) -> str:
    """Text without the sequences that steer a screen, its lines ended by a newline alone."""
    if "\x1b" in text:
        text = _ESCAPES.sub("", text)
    return text.replace("\r\n", "\n")


class Kept:
    """The first 40 % and the last 60 % of what does not fit into `cap` bytes."""

    def __init__(self, cap: int) -> None:
        self._head = bytearray()
        self._tail = bytearray()
        self._room = (cap * 2 // 5, cap - cap * 2 // 5)
        self._dropped = 0

    def add(self, data: bytes) -> None:
        head, tail = self._room
        if free := head - len(self._head):
            self._head += data[:free]
            data = data[free:]
        self._tail += data[-tail:] if len(data) > tail else data
        self._dropped += max(0, len(data) - tail)
        if (extra := len(self._tail) - tail) > 0:
            del self._tail[:extra]
            self._dropped += extra

    def text(self) -> tuple[str, int]:
        """The text, and how many bytes between its head and its tail were left out."""
        if not self._dropped:
            return plain((self._head + self._tail).decode(errors="replace")), 0
        head, cut = _whole(bytes(self._head))
        tail = _from_whole(bytes(self._tail))
        omitted = self._dropped + cut + len(self._tail) - len(tail)
        between = f"\n[... {omitted} bytes left out ...]\n"
        return plain(head) + between + plain(tail.decode(errors="replace")), omitted


class Heard:
    """What a command prints while it runs: kept within bounds, and told as text as it comes."""

    def __init__(self, cap: int, on_output: Callable[[str], None] | None) -> None:
        self._kept = Kept(cap)
        self._tell = decoded(on_output) if on_output else None

    def add(self, data: bytes) -> None:
        self._kept.add(data)
        if self._tell:
            self._tell(data, False)

    def end(self) -> tuple[str, int]:
        """The text, and how many bytes of it were left out; nothing comes any more."""
        if self._tell:
            self._tell(b"", True)
        return self._kept.text()


class Ring:
    """The newest bytes of a stream, each known by its offset from the stream's beginning."""

    def __init__(self, size: int = RING) -> None:
        self._size = size
        self._data = bytearray()
        self._read_to = 0
        self.start = 0

    @property
    def end(self) -> int:
        return self.start + len(self._data)

    def add(self, data: bytes) -> None:
        self._data += data
        if (extra := len(self._data) - self._size) > 0:
            del self._data[:extra]
            self.start += extra

    def read(self, offset: int | None, limit: int | None, final: bool) -> tuple[str, int]:
        """Text from an offset on (None: what is new since the last such call), and the offset behind it; a character that
        is not yet whole waits unless `final`."""
        if offset is None:
            text, self._read_to = self.read(self._read_to, limit, final)
            return text, self._read_to
        begin = min(max(offset, self.start), self.end) - self.start
        data = bytes(self._data[begin:] if limit is None else self._data[begin : begin + limit])
        if offset < self.start:
            begin, data = begin + len(data) - len(_from_whole(data)), _from_whole(data)
        text, cut = (data.decode(errors="replace"), 0) if final else _whole(data)
        return plain(text), self.start + begin + len(data) - cut


def decoded(feed: Callable[[str], None]) -> Callable[[bytes, bool], None]:
    """Hand bytes on as text, never half a character; call it with True at the end."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")

    def take(data: bytes, final: bool = False) -> None:
        if text := decoder.decode(data, final):
            feed(text)

    return take


def _whole(data: bytes) -> tuple[str, int]:
    """The text up to the last whole character, and how many bytes of a cut one follow."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    text = decoder.decode(data)
    return text, len(decoder.getstate()[0])


def _from_whole(data: bytes) -> bytes:
    """The bytes from the first beginning of a character on."""
    skip = 0
    while skip < min(3, len(data)) and data[skip] & 0xC0 == 0x80:
        skip += 1
    return data[skip:]
