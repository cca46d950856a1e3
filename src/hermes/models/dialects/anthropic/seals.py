"""The signature under a thought: kept when it comes, put back when the thought is sent again unchanged."""

import zlib
from typing import Any

import msgspec


def seal(signature: str, text: str) -> str:
    """What to keep of a signed thought. Its text is kept elsewhere; a check tells whether it is still the same."""
    return msgspec.json.encode({"signature": signature, "check": zlib.crc32(text.encode())}).decode()


def seal_redacted(data: str) -> str:
    """What to keep of a thought that only the provider can read."""
    return msgspec.json.encode({"redacted": data}).decode()


def unseal(kept: str, text: str) -> list[dict[str, Any]]:
    """The thought as a block, or nothing if its text was changed: the provider refuses such a signature."""
    match msgspec.json.decode(kept):
        case {"redacted": data}:
            return [{"type": "redacted_thinking", "data": data}]
        case {"signature": signature, "check": check} if check == zlib.crc32(text.encode()):
            return [{"type": "thinking", "thinking": text, "signature": signature}]
        case _:
            return []
