"""The languages that model APIs speak, one module each, loaded when a model of it is first called."""

from collections.abc import Mapping
from importlib import import_module
from typing import Protocol, cast

from hermes.models.decoder import Decoder
from hermes.models.memo import Memo
from hermes.models.quirks import Quirks
from hermes.protocol.models import ModelRequest

NAMES = ("chat", "responses", "anthropic")


class Dialect(Protocol):
    """What each module here has."""

    def url(self, base: str, /) -> str:
        """The address to post to, for a vendor's base URL."""
        ...

    def headers(self, key: str, /) -> Mapping[str, str]:
        """The headers of a request; an empty key is not sent."""
        ...

    def encode(
        self, request: ModelRequest, *, model: str, name: str, quirks: Quirks, memo: Memo | None = None
    ) -> bytes:
        """The body of a request for the vendor's `model`; opaque bytes go back only to the model of this `name`.

        With a memo only what is new is encoded; the bytes are the same.
        """
        ...

    def decoder(self) -> Decoder: ...


def load(name: str) -> Dialect:
    """The dialect of this name."""
    if name not in NAMES:
        raise ValueError(f"{name!r} is not a dialect; there are {', '.join(NAMES)}")
    return cast(Dialect, import_module(f"{__name__}.{name}"))
