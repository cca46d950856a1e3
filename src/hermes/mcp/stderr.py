"""What there is to log of a server: its error output, whose end is kept, and our notes; of a flood only the first lines."""

import time
from collections.abc import Callable

from hermes.mcp.lines import Lines, Overlong

RING = 16 << 10
LINE = 4 << 10
LINES_A_SECOND = 100

_INSIDE_A_CHARACTER = bytes(range(0x80, 0xC0))


class ErrorOutput:
    def __init__(self, log: Callable[[str], None]) -> None:
        self._log = log
        self._ring = b""
        self._lines = Lines(LINE)
        self._second = 0.0
        self._logged = 0
        self._left_out = 0

    def tail(self) -> str:
        """The newest 16 KB."""
        cut = len(self._ring) == RING
        return (self._ring.lstrip(_INSIDE_A_CHARACTER) if cut else self._ring).decode(errors="replace")

    def feed(self, block: bytes) -> None:
        self._ring = (self._ring + block)[-RING:]
        if time.monotonic() - self._second >= 1:
            self._start_second()
        if self._logged >= LINES_A_SECOND:
            # Splitting a flood into lines would cost more than all else that the loop does.
            self._left_out += block.count(b"\n")
            block = block[block.rfind(b"\n") + 1 :]
        for line in self._lines.feed(block):
            self._say(line)

    def note(self, text: str) -> None:
        """Log a line of our own among the server's."""
        if time.monotonic() - self._second >= 1:
            self._start_second()
        if self._logged >= LINES_A_SECOND:
            self._left_out += 1
        else:
            self._logged += 1
            self._log(text)

    def close(self) -> None:
        """Log what is left, a last line without its end included."""
        self._start_second()
        self._say(self._lines.rest())

    def _start_second(self) -> None:
        if self._left_out:
            self._log(f"({self._left_out} more lines left out)")
        self._second = time.monotonic()
        self._logged = self._left_out = 0

    def _say(self, line: bytes | Overlong) -> None:
        match line:
            case Overlong(head, _, size):
                text = f"{head.decode(errors='replace')}... ({size} bytes)"
            case _:
                text = line.decode(errors="replace").rstrip()
        if text:
            self.note(text)
