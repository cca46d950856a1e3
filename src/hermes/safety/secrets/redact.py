"""Takes secrets out of text: the configured ones in every spelling, and whatever is shaped or named like one."""

import base64
from collections.abc import Iterable
from urllib.parse import quote, quote_plus

from hermes.safety.secrets.assignments import find_assigned
from hermes.safety.secrets.forms import find_forms
from hermes.safety.secrets.masks import MASK
from hermes.safety.secrets.shapes import Span, find_keys, has_key

_SMALL = {letter: letter + 32 for letter in range(ord("A"), ord("Z") + 1)}
_PASSES = 4
_SHORTEST = 8
_SHORTEST_MIXED = 6
_KEPT = 4
_KEPT_FROM = 20


class Redactor:
    """Masks the secrets in texts. `configured` are values that must never be shown, whatever they look like."""

    def __init__(self, configured: Iterable[str] = ()) -> None:
        values = {value.strip() for value in configured}
        self.needles = tuple(
            sorted(
                {needle for value in values if _is_worth_it(value) for needle in spellings(value)},
                key=len,
                reverse=True,
            )
        )

    def mask(self, text: str) -> str:
        """The text with a mask in place of each secret; of a long one the first letters stay, to tell which it was."""
        for _ in range(_PASSES):
            spans = self.find(text)
            if not spans:
                break
            # Behind a mask a word begins where none began before: look again.
            text = masked(text, spans)
        return text

    def find(self, text: str) -> list[Span]:
        """Where the secrets stand, in order, apart from each other."""
        lowered = small(text)
        spans = [
            *self._find_configured(text),
            *find_keys(text),
            *find_forms(text, lowered),
            *find_assigned(text, lowered),
        ]
        return _joined(spans)

    def leaks(self, text: str) -> bool:
        """Whether a text such as a URL would carry away a configured value or a vendor's key."""
        return bool(self._find_configured(text)) or has_key(text)

    def _find_configured(self, text: str) -> list[Span]:
        spans: list[Span] = []
        for needle in self.needles:
            at = text.find(needle)
            while at >= 0:
                spans.append((at, at + len(needle)))
                at = text.find(needle, at + 1)
        return spans


def small(text: str) -> str:
    """The text in small letters, each in its place: a few letters of other scripts become two when they become small."""
    lowered = text.lower()
    return lowered if len(lowered) == len(text) else text.translate(_SMALL)


def masked(text: str, spans: Iterable[Span]) -> str:
    """The text with a mask in place of each span."""
    parts: list[str] = []
    done = 0
    for start, end in spans:
        parts += (text[done:start], masked_value(text[start:end]))
        done = end
    return "".join(parts) + text[done:]


def masked_value(value: str) -> str:
    """The mask for a value."""
    return (value[:_KEPT] if len(value) >= _KEPT_FROM else "") + MASK


def spellings(value: str) -> set[str]:
    """How a value can be written: as it is, in JSON, HTML and URLs, in hexadecimal and in base64 at any offset."""
    import json  # where there are values to look for

    raw = value.encode(errors="surrogatepass")
    urls = {quote(raw, safe=""), quote(raw, safe="/"), quote(raw, safe="!*'()~"), quote_plus(raw)}
    found = {value, json.dumps(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1], _in_html(value), *urls}
    found |= {_small_escapes(url) for url in urls}
    found |= {raw.hex(), raw.hex().upper()}
    for shift in range(3):
        core = _base64_core(raw, shift)
        found |= {core, core.replace("+", "-").replace("/", "_")}
    return {needle for needle in found if len(needle) >= min(len(value), _SHORTEST)}


def _in_html(value: str) -> str:
    """The same as html.escape, whose module brings a table of two thousand names along."""
    for char, name in (("&", "amp"), ("<", "lt"), (">", "gt"), ('"', "quot"), ("'", "#x27")):
        value = value.replace(char, f"&{name};")
    return value


def _small_escapes(url: str) -> str:
    """A URL's escapes in small letters, as some programs write them."""
    parts = url.split("%")
    return parts[0] + "".join("%" + part[:2].lower() + part[2:] for part in parts[1:])


def _base64_core(raw: bytes, shift: int) -> str:
    """The letters that base64 gives these bytes whatever stands around them, `shift` bytes into a group of three."""
    letters = base64.b64encode(bytes(shift) + raw).decode().rstrip("=")
    spoiled_before = (0, 2, 3)[shift]
    spoiled_after = 1 if (shift + len(raw)) % 3 else 0
    return letters[spoiled_before : len(letters) - spoiled_after]


def _is_worth_it(value: str) -> bool:
    """Whether to look for a configured value; the shortest ones are parts of ordinary words, and would mask those."""
    mixed = not value.isalpha() and not value.isdigit()
    return len(value) >= (_SHORTEST_MIXED if mixed else _SHORTEST) and value not in MASK


def _joined(spans: list[Span]) -> list[Span]:
    joined: list[Span] = []
    for start, end in sorted(spans):
        if joined and start < joined[-1][1]:
            joined[-1] = (joined[-1][0], max(end, joined[-1][1]))
        elif end > start:
            joined.append((start, end))
    return joined
