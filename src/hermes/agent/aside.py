"""One question to a model beside the conversation: a review, a summary, a title. No tools, no history, one answer."""

from contextlib import aclosing
from typing import Any

import msgspec
from msgspec import Struct

from hermes.protocol.errors import Disconnected, Refused
from hermes.protocol.events import Usage
from hermes.protocol.items import Text, UserMessage
from hermes.protocol.models import Began, Finished, Grew, Model, ModelRequest, Retrying


class Aside(Struct, frozen=True):
    """The answer's text, whether it was cut off at its limit, and what the call used."""

    text: str
    cut: bool
    usage: Usage


async def ask_aside(model: Model, *, system: str, text: str, purpose: str, max_output: int) -> Aside:
    """Ask once; a ModelError is the caller's to act on."""
    message = UserMessage(id="aside", turn=1, step=0, index=0, parts=(Text(text),))
    request = ModelRequest(system=system, tools=(), items=(message,), max_output=max_output)
    kinds: dict[int, str] = {}
    pieces: list[str] = []
    finished: Finished | None = None
    async with aclosing(model.stream(request)) as deltas:
        async for delta in deltas:
            match delta:
                case Began(index=index, kind=kind):
                    kinds[index] = kind
                case Grew(index=index, text=more) if kinds[index] == "text":
                    pieces.append(more)
                case Retrying():
                    kinds.clear()
                    pieces.clear()
                case Finished():
                    finished = delta
                case _:
                    pass
    if finished is None:
        raise Disconnected("the model's answer ended without a finish")
    if finished.reason == "refused":
        raise Refused("the model declined to answer")
    counts: dict[str, Any] = msgspec.structs.asdict(finished.tokens)
    usage = Usage(step=0, model=finished.model or model.name, **counts, cost=finished.cost, purpose=purpose)
    return Aside("".join(pieces), finished.reason == "length", usage)
