"""What a text hides: signs that nobody sees, letters that look like others, and texts packed into what looks like noise."""

import base64
import binascii
import re
import unicodedata
from collections.abc import Iterator

# Joiners belong to emoji and to several scripts, a soft hyphen to print; the mark at the start of a file is an encoding's.
_HARMLESS = frozenset("\u200c\u200d\u00ad")
_TAGS = re.compile(r"[\U000e0000-\U000e007f\U000e0100-\U000e01ef]")
# A flag of a part of a country is a black flag, letters as tags, and the tag that ends them.
_FLAGS = re.compile("\U0001f3f4[\U000e0061-\U000e007a]{3,6}\U000e007f")
_TURNS = re.compile(r"[\u202a-\u202e\u2066-\u2069]")
_MIXED = re.compile(r"[a-z][\u0370-\u03ff\u0400-\u04ff]|[\u0370-\u03ff\u0400-\u04ff][a-z]", re.IGNORECASE)
_LOOK_ALIKES = str.maketrans("авеорсухіјѕԁɡһοανιАВЕКМНОРСТХ", "abeopcyxijsdghoaviABEKMHOPCTX")
_packed = re.compile(r"[A-Za-z0-9+/_-]{24,}={0,2}")
_hexed = re.compile(r"(?:\\x[0-9a-fA-F]{2}){6,}|\b(?:[0-9a-fA-F]{2}){20,}\b")
_percent = re.compile(r"(?:%[0-9a-fA-F]{2}){6,}")
_pieces = re.compile(r"(['\"])([^'\"\n]{1,16})\1(?:\s*\+\s*(['\"])([^'\"\n]{1,16})\3){1,20}")
_joints = re.compile(r"(?<=\w)(?:''|\"\"|\\(?=[a-z]))(?=\w)")
DEEPEST = 3


def unseen(text: str) -> str:
    """What kind of invisible signs a text has, in words; "" if it has none."""
    text = _FLAGS.sub("", text.removeprefix("\ufeff"))
    if _TAGS.search(text):
        return "letters that nobody sees"
    if _TURNS.search(text):
        return "signs that turn the direction of reading round"
    hidden = {sign for sign in text if unicodedata.category(sign) in ("Cf", "Co", "Cs") and sign not in _HARMLESS}
    return "signs that nobody sees" if hidden else ""


def looks_alike(text: str) -> bool:
    """Whether a word mixes Latin letters with those of another alphabet that look the same."""
    return any(match[0] != match[0].translate(_LOOK_ALIKES) for match in _MIXED.finditer(text))


def plain(text: str) -> str:
    """A text as it looks: without invisible signs, with look-alikes as what they look like and words put together again."""
    if not text.isascii():
        seen = "".join(sign for sign in text if unicodedata.category(sign) not in ("Cf", "Co", "Cs"))
        text = unicodedata.normalize("NFKC", seen).translate(_LOOK_ALIKES)
    return _joints.sub("", text)


def joined(text: str) -> Iterator[str]:
    """What a program would put together from short pieces of text."""
    for match in _pieces.finditer(text):
        yield "".join(re.findall(r"['\"]([^'\"\n]{1,16})['\"]", match[0]))


def unpacked(text: str, depth: int = DEEPEST) -> Iterator[str]:
    """Every text that is packed into another one, also inside of what was packed."""
    for match in [*_packed.finditer(text), *_hexed.finditer(text), *_percent.finditer(text)]:
        for inner in _readings(match[0]):
            if _is_text(inner):
                yield inner
            if depth > 1:
                yield from unpacked(inner, depth - 1)
    # The tags spell a text of their own, and so do the selectors: each sign stands for a byte.
    if smuggled := "".join(map(_smuggled, _TAGS.findall(_FLAGS.sub("", text)))):
        yield smuggled


def _smuggled(sign: str) -> str:
    code = ord(sign)
    return chr(code - 0xE0000) if code < 0xE0080 else chr(code - 0xE0100 + 16)


def _readings(noise: str) -> Iterator[str]:
    """The texts that a run of signs may stand for."""
    for decode in (_from_hex, _from_percent, _from_base64):
        try:
            text = decode(noise).decode()
        except (ValueError, binascii.Error):
            continue
        if all(sign.isprintable() or sign in "\n\t\r" for sign in text):
            yield text


def _from_hex(noise: str) -> bytes:
    return bytes.fromhex(noise.replace("\\x", ""))


def _from_percent(noise: str) -> bytes:
    if "%" not in noise:
        raise ValueError("no percent signs")
    return bytes.fromhex(noise.replace("%", ""))


def _from_base64(noise: str) -> bytes:
    bare = noise.rstrip("=").replace("-", "+").replace("_", "/")
    return base64.b64decode(bare + "=" * (-len(bare) % 4), validate=True)


def _is_text(text: str) -> bool:
    """Whether this reads like something that was written: noise that is taken apart by chance does not."""
    words = re.findall(r"[A-Za-z]{2,}", text)
    printable = all(sign.isprintable() or sign in "\n\t\r" for sign in text)
    return (
        len(text) >= 12 and printable and sum(map(len, words)) >= 0.5 * len(text) and bool(re.search(r"[\s/:(]", text))
    )
