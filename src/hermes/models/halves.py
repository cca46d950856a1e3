"""Characters that a server cut in half: one event ends in \\ud83d and the next begins with \\ude00.

Servers that count in UTF-16 do that to any emoji at the edge of a piece. It is valid JSON text, and no decoder takes it.
"""

import re

# Every escape is looked at in turn, so that a backslash which is itself escaped does not begin one.
_escape = re.compile(rb"\\(?:u(?P<high>[dD][89abAB]..)|u(?P<low>[dD][c-fC-F]..)|.)", re.DOTALL)
REPLACEMENT = rb"\ufffd"


class Halves:
    """Keeps the first half of a character until the event with the second one comes."""

    def __init__(self) -> None:
        self._first = b""

    def mend(self, data: bytes) -> bytes:
        """An event that could not be decoded, with the half that was kept put before its other one; its own last first
        half is kept, and what stays alone is replaced."""
        first, self._first = self._first, b""
        mended = bytearray()
        done = 0
        alone: re.Match[bytes] | None = None  # a first half whose second one has not come yet
        held = 0  # where in `mended` it stands
        for found in _escape.finditer(data):
            mended += data[done : found.start()]
            done = found.end()
            if found["low"] and alone is not None and alone.end() == found.start():
                mended += found[0]
                alone = None
            elif found["low"]:
                mended += first + found[0] if first else REPLACEMENT
                first = b""
            else:
                if found["high"]:
                    if alone is not None:
                        mended[held : held + len(alone[0])] = REPLACEMENT
                    alone, held = found, len(mended)
                mended += found[0]
        mended += data[done:]
        if alone is not None:
            self._first = alone[0]
            del mended[held : held + len(self._first)]
        return bytes(mended)
