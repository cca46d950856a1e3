"""Questions to a person: asked as an event, answered by a later op, never left open."""

import asyncio
from collections.abc import Callable

import msgspec
from msgspec import Raw

from hermes.agent.recorder import Recorder
from hermes.protocol.events import Answered, Asked, Request, Secret
from hermes.protocol.ids import new_id
from hermes.protocol.ops import Answer


class Questions:
    """The open questions of one session."""

    def __init__(self, recorder: Recorder, now: Callable[[], float]) -> None:
        self._recorder, self._now = recorder, now
        self._waiting: dict[str, asyncio.Future[Answer]] = {}

    async def ask(self, request: Request, item: str, within: float) -> Answered:
        """Ask and wait; Answered(expired) if nobody answered in time. A secret comes back as its text, and is not noted."""
        asked = Asked(new_id("ask_"), request, expires_at=self._now() + within, item=item)
        waiting = self._waiting[asked.request_id] = asyncio.get_running_loop().create_future()
        self._recorder.note(asked)
        await self._recorder.commit()
        answered = Answered(asked.request_id, how="cancelled")
        try:
            async with asyncio.timeout(within):  # not wait_for, which may swallow a cancellation
                answer = await waiting
            said = "" if isinstance(request, Secret) else answer.text
            answered = Answered(asked.request_id, "answered", answer.choice, said, answer.by)
            return answered if answer.data is None else msgspec.structs.replace(answered, text=_private(answer.data))
        except TimeoutError:
            answered = Answered(asked.request_id, how="expired")
            return answered
        finally:
            del self._waiting[asked.request_id]
            self._recorder.note(answered)

    def answer(self, op: Answer) -> None:
        """Hand an answer to whoever waits for it; one that comes late or twice has no effect."""
        waiting = self._waiting.get(op.request_id)
        if waiting is not None and not waiting.done():
            waiting.set_result(op)


def _private(data: Raw) -> str:
    """What was typed into a Secret, or a filled-in Form as JSON."""
    value = msgspec.json.decode(data)
    return value if isinstance(value, str) else bytes(data).decode()
