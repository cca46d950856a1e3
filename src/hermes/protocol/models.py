"""The seam between the loop and any model: a request in, deltas out.

A call yields, for each part of the answer, Began, any number of Grew, then Ended; and last Finished, exactly once.
No Finished means no answer: the call raises a ModelError. Retrying says that what came so far is void and comes anew.
"""

from collections.abc import AsyncGenerator
from typing import Literal, Protocol

from msgspec import Raw, Struct

from hermes.protocol.items import Item

PartKind = Literal["text", "thought", "call"]
Finish = Literal["stop", "calls", "length", "refused"]


class ToolSpec(Struct, frozen=True):
    """A tool as the model is told of it; `schema` is the JSON schema of its arguments."""

    name: str
    description: str
    schema: Raw


class ModelRequest(Struct, frozen=True, kw_only=True):
    """One call: the prefix (system, tools), the view, and how to answer. `images` holds the bytes of blobs in the view."""

    system: str
    tools: tuple[ToolSpec, ...]
    items: tuple[Item, ...]
    max_output: int | None = None
    effort: str = ""
    images: dict[str, bytes] = {}


class Began(Struct, frozen=True, tag=True):
    """Part `index` of the answer begins; a call says its id and name."""

    index: int
    kind: PartKind
    call_id: str = ""
    name: str = ""


class Grew(Struct, frozen=True, tag=True):
    index: int
    text: str


class Ended(Struct, frozen=True, tag=True):
    """Part `index` is whole; `opaque` must be sent back with it to the same dialect and model."""

    index: int
    opaque: str = ""


class Tokens(Struct, frozen=True, kw_only=True):
    """Tokens of one call; `input` counts everything that went in, cached or not."""

    input: int = 0
    output: int = 0
    cache_read: int = 0
    cache_write: int = 0
    reasoning: int = 0


class Finished(Struct, frozen=True, tag=True):
    """The provider said why it stopped; `cost` in US dollars, or None if the price is unknown."""

    reason: Finish
    tokens: Tokens
    model: str
    cost: float | None = None


class Retrying(Struct, frozen=True, tag=True):
    """The call failed and is made again after `wait` seconds, by `model`."""

    why: str
    wait: float
    model: str


Delta = Began | Grew | Ended | Finished | Retrying


class Model(Protocol):
    """Anything that can answer. `name` is provider:model, `window` its context in tokens, `profile` the prompt it wants."""

    @property
    def name(self) -> str: ...

    @property
    def dialect(self) -> str: ...

    @property
    def window(self) -> int: ...

    @property
    def profile(self) -> Literal["full", "small"]: ...

    def stream(self, request: ModelRequest) -> AsyncGenerator[Delta]:
        """Answer; closing the iterator early ends the call at the provider."""
        ...
