"""The turn: ask the model, run what it calls, until there is nothing left to call. It knows no features."""

from collections.abc import AsyncGenerator
from contextlib import aclosing

import msgspec

from hermes.agent.calls import run_calls
from hermes.agent.desk import Desk
from hermes.agent.history import BYTES_PER_TOKEN
from hermes.agent.response import Response
from hermes.protocol.errors import ContextTooLong, Disconnected, LimitReached, ModelError, Refused
from hermes.protocol.events import Body, ItemDone, Usage
from hermes.protocol.ids import new_id
from hermes.protocol.items import Text
from hermes.protocol.models import Model, ModelRequest
from hermes.protocol.store import JournalRow

CUTS_IN_A_ROW = 2
CUT = (
    "Not run: your answer reached the output limit before these arguments were complete. "
    "Do it in smaller pieces, for example write a long file in several calls."
)


async def turn(desk: Desk) -> AsyncGenerator[Body]:
    """Yield what happens, event by event; returns when the model is done, raises when it cannot go on."""
    cuts = 0
    while True:
        for message in desk.joined():
            yield ItemDone(message)
        await desk.make_room()
        model = desk.model
        response = Response(model, desk.history.turn, desk.history.step + 1)
        try:
            async with aclosing(ask(desk, model, response)) as bodies:
                async for body in bodies:
                    yield body
        except ContextTooLong:
            if not await desk.make_room(refused=True):
                raise
            continue
        assert response.finished is not None
        if response.finished.reason == "refused":
            raise Refused("the model declined to answer, or a content filter stopped it")
        if not response.calls:
            if response.finished.reason == "length":
                raise LimitReached("output", "the answer reached the model's output limit")
            if not response.text:
                raise ModelError("the model answered with nothing")
            return
        if response.finished.reason == "length":
            cuts += 1
            for call in response.calls:
                yield ItemDone(msgspec.structs.replace(call, status="failed", result=(Text(CUT),)))
            if cuts > CUTS_IN_A_ROW:
                raise LimitReached("output", "the model's calls reached its output limit again and again")
            continue
        cuts = 0
        async with aclosing(run_calls(desk, response.calls)) as bodies:
            async for body in bodies:
                yield body


async def ask(desk: Desk, model: Model, response: Response) -> AsyncGenerator[Body]:
    """One model call. It is journalled before it is made, so that a crash cannot hide what it cost."""
    allowed = desk.meter.before_call(expected_tokens(desk))
    request = ModelRequest(
        system=desk.system,
        tools=desk.tools.specs,
        items=desk.history.view(),
        max_output=allowed,
        effort=desk.effort,
        images={ref: await desk.blob(ref) for ref in desk.history.images()},
    )
    call = new_id("model_")
    await desk.begin(JournalRow(ref=call, kind="model", detail=model.name, at=desk.now()))
    async with aclosing(model.stream(request)) as deltas:
        async for delta in deltas:
            for body in response.take(delta):
                yield body
                if isinstance(body, Usage):
                    desk.meter.charge(body)
                    desk.end(call)
    if response.finished is None:
        raise Disconnected("the model's answer ended without a finish")


def expected_tokens(desk: Desk) -> int:
    """About how many tokens the next request will have; a provider's report of the last one counts the prefix already."""
    prefix = 0
    if not desk.history.context_used:
        prefix = len(desk.system) + sum(len(spec.description) + len(bytes(spec.schema)) for spec in desk.tools.specs)
    return desk.history.context_estimate() + prefix // BYTES_PER_TOKEN
