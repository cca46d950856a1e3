"""Takes secrets out of text that comes in pieces: a secret that is cut in two is still masked."""

import re

from hermes.safety.patterns import Pattern
from hermes.safety.secrets.redact import Redactor, masked

HOLD = 16_384
"""How much is held back at most, in letters: more than any private key has."""

_CONTEXT = 1_024
_SPACE = Pattern(r"\s(?=\S*$)")
# What is said here is told only by the end of the line, or has spaces in it.
_WHOLE_LINE = Pattern(
    r"(?i)seed|mnemonic|phrase|recovery|wallet|totp|2fa|mfa|\botp|authenticator|\becho\b|\bprintf\b|app.?password|"
    r"backup code|(?:password|pwd)=|pass\w*[\"']?\s*[:=]\s*[\"'][^\"'\n]*$|\[\s?\d{1,3},|private-lines|-----BEGIN[^\n]*$"
)


class StreamRedactor:
    """Masks a stream: each `feed` gives back what is certain by now, `close` the rest.

    The last word is held back, and so is a secret that may go on; never more than `HOLD` letters.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._longest = max((len(needle) for needle in redactor.needles if re.search(r"\s", needle)), default=0)
        # What was given back stays for a while in front of what is held: a name tells what its value is.
        self._text = ""
        self._given = 0

    def feed(self, piece: str) -> str:
        self._text += piece
        if len(self._text) - self._given > HOLD:
            return self._give(len(self._text), final=True)
        return self._give(self._certain(), final=False)

    def close(self) -> str:
        """What is still held back; the stream may start anew."""
        rest = self._give(len(self._text), final=True)
        self._text, self._given = "", 0
        return rest

    def _certain(self) -> int:
        """How far the text cannot change its meaning by what comes next."""
        text = self._text
        space = _SPACE.search(text, max(self._given, len(text) - HOLD))
        end = space.end() if space else self._given
        line = max(text.rfind("\n", 0, end), text.rfind("\r", 0, end)) + 1
        if _WHOLE_LINE.search(text, line):
            end = line
        if self._longest:
            end = min(end, len(text) - self._longest + 1)
        return max(end, self._given)

    def _give(self, end: int, *, final: bool) -> str:
        if end <= self._given:
            return ""
        spans = self._redactor.find(self._text)
        if not final:
            for start, stop in spans:
                if start < end <= stop:
                    end = start
        given = self._given
        if end <= given:
            return ""
        inside = [
            (max(start, given) - given, min(stop, end) - given) for start, stop in spans if stop > given and start < end
        ]
        out = masked(self._text[given:end], inside)
        keep = max(0, end - _CONTEXT)
        self._text, self._given = self._text[keep:], end - keep
        return out
