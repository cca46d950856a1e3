"""Anthropic Messages, with the four places of its prompt cache."""

from hermes.models.dialects.anthropic.incoming import decoder as decoder
from hermes.models.dialects.anthropic.outgoing import encode as encode

VERSION = "2023-06-01"


def url(base: str) -> str:
    """Vendors give a base URL with or without the version."""
    base = base.rstrip("/").removesuffix("/messages").removesuffix("/v1")
    return base + "/v1/messages"


def headers(key: str) -> dict[str, str]:
    named = {"anthropic-version": VERSION}
    return named | {"x-api-key": key} if key else named
