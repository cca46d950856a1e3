"""What a session asks, put to the person at the keyboard, one question after the other."""

import asyncio
from collections.abc import Awaitable, Callable

import msgspec

from hermes.cli.keyboard import Keyboard
from hermes.protocol.errors import HermesError
from hermes.protocol.events import Approval, Asked, Event, Question, Secret
from hermes.protocol.ops import Answer

WORDS = {"y": "once", "yes": "once", "n": "deny", "no": "deny"}


class Questions:
    """Questions that are open. One that ends otherwise, because its time is up or somebody else answered, is taken back.

    `draw` shows an event, `say` a line; `send` hands an answer in; `leave` is called when the person ends the input.
    """

    def __init__(
        self,
        keyboard: Keyboard,
        *,
        draw: Callable[[Event], None],
        say: Callable[[str], None],
        send: Callable[[Answer], Awaitable[object]],
        leave: Callable[[], None],
    ) -> None:
        self._keyboard = keyboard
        self._draw, self._say, self._send, self._leave = draw, say, send, leave
        self._open: dict[str, asyncio.Task[None]] = {}
        self._one_at_a_time = asyncio.Lock()
        self._late: Asked | None = None

    def ask(self, event: Event, asked: Asked) -> None:
        self._open[asked.request_id] = asyncio.create_task(self._put(event, asked))

    def over(self, request_id: str) -> None:
        """The session waits for this answer no longer."""
        task = self._open.pop(request_id, None)
        if task is not None:
            task.cancel()

    def answers_too_late(self, line: str) -> bool:
        """Whether a line, the first one since, answers the approval that was taken back last."""
        late, self._late = self._late, None
        return late is not None and isinstance(late.request, Approval) and answer_in(line, late) is not None

    async def _put(self, event: Event, asked: Asked) -> None:
        async with self._one_at_a_time:
            self._keyboard.forget_typed()
            self._draw(event)
            answer = await self._wait_for(asked)
            self._open.pop(asked.request_id, None)
            if answer is None:
                return self._leave()
            try:
                await self._send(answer)
            except HermesError as error:
                self._say(str(error))

    async def _wait_for(self, asked: Asked) -> Answer | None:
        """An answer that was offered; None if the input ends."""
        try:
            while (line := await self._typed(asked)) is not None:
                if answer := answer_in(line, asked):
                    return answer
                letters = isinstance(asked.request, Approval)
                self._say("type one of the letters in brackets" if letters else "type an answer, or Ctrl+C to stop")
        except asyncio.CancelledError:
            self._late = asked
            raise
        return None

    async def _typed(self, asked: Asked) -> str | None:
        """What is typed from now on: a line that was there before the question is no answer to it."""
        secret = isinstance(asked.request, Secret)
        return await (self._keyboard.secret() if secret else self._keyboard.line(fresh=True))


def answer_in(line: str, asked: Asked) -> Answer | None:
    """The answer that a line gives; None if it is none that was offered."""
    words = line.strip()
    match asked.request:
        case Approval(choices=choices):
            word, _, reason = words.partition(" ")
            meant = WORDS.get(word.lower(), word.lower())
            choice = next((choice for choice in choices if meant and choice.startswith(meant)), "")
            if not choice or (reason and choice != "deny"):
                return None
            return Answer(request_id=asked.request_id, choice=choice, text=reason)
        case Question(choices=choices) if words.isdecimal() and 1 <= int(words) <= len(choices):
            return Answer(request_id=asked.request_id, choice=choices[int(words) - 1])
        case Secret():
            return Answer(request_id=asked.request_id, data=msgspec.Raw(msgspec.json.encode(line)))
        case _:
            return Answer(request_id=asked.request_id, text=words) if words else None
