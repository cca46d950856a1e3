"""The embedded model: a small one that answers in this process, with no key and no network. A basic offline mode."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from typing import Any, Literal, Protocol

import msgspec

from hermes.models.answer import Answer
from hermes.models.engine import Engine, Piece, Usage
from hermes.models.forced import Call, StepReader, answer_text, call_text, instructions, schema
from hermes.models.view import Call as PastCall
from hermes.models.view import Said, Step, contents, conversation, result_of
from hermes.protocol.errors import Disconnected
from hermes.protocol.items import Item, Reply, ToolCall
from hermes.protocol.models import Delta, ModelRequest, Tokens

WINDOW = 8192
LONGEST_ANSWER = 1024
REMINDED = 300
"""Characters of the question that stand behind each result: a small model forgets what it was asked."""
CIRCLE = 60
"""Characters that nobody writes twice in a short answer."""
LONGEST_RESULT = 2000
"""Characters of a tool's result that the model reads: 500 tokens, which take ten seconds."""


class Speaker(Protocol):
    """What the embedded model needs of an engine."""

    def answer(self, messages: list[dict[str, str]], schema: dict[str, Any], limit: int) -> AsyncGenerator[Piece]: ...

    async def close(self) -> None: ...


def embedded(name: str, weights: Callable[[], Awaitable[Path]], *, threads: int = 0) -> "Local":
    """The model in a GGUF file, which `weights` finds or fetches when the model is first asked."""

    async def load() -> Engine:
        return await Engine.load(await weights(), window=WINDOW, threads=threads)

    return Local(name, load)


class Local:
    """A model of the protocol on an engine that is loaded when it is first asked."""

    dialect = "local"
    window = WINDOW
    profile: Literal["full", "small"] = "small"

    def __init__(self, name: str, load: Callable[[], Awaitable[Speaker]]) -> None:
        self.name = f"local:{name}"
        self._load = load
        self._engine: Speaker | None = None
        self._loading = asyncio.Lock()

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta]:
        """Answer, or call one tool.

        Small models run in circles. After a call that was made before in this turn only the answer is left; and a
        call that is the same as the one just made is not made at all, as nothing can have changed in between.
        """
        past = calls_of_this_turn(request.items)
        circling = bool(past) and past[-1] in past[:-1]
        step = _Step(await self._ready(), request)
        async with aclosing(step.ask(only_answer=circling)) as deltas:
            async for delta in deltas:
                yield delta
        if step.call and key_of(step.call.name, step.call.arguments) in past[-1:]:
            async with aclosing(step.ask(only_answer=True)) as deltas:
                async for delta in deltas:
                    yield delta
        for delta in step.finish(self.name):
            yield delta

    async def close(self) -> None:
        """Give the memory back; asked again, the model is loaded again."""
        async with self._loading:
            if self._engine is not None:
                await self._engine.close()
                self._engine = None

    async def _ready(self) -> Speaker:
        async with self._loading:
            if self._engine is None:
                self._engine = await self._load()
            return self._engine


class _Step:
    """One step while it is made: what the person hears at once, and what is known at the end."""

    def __init__(self, engine: Speaker, request: ModelRequest) -> None:
        self.call: Call | None = None
        self._engine = engine
        self._tools = request.tools
        self._messages = chat(request)
        self._limit = min(request.max_output or LONGEST_ANSWER, LONGEST_ANSWER)
        self._answer = Answer()
        self._ended = ""
        self._usage = Usage()
        self._output = 0

    async def ask(self, *, only_answer: bool) -> AsyncGenerator[Delta]:
        """Let the model speak; words of an answer are told as they come."""
        reader, text, said = StepReader(), None, ""
        form = schema(self._tools, only_answer=only_answer)
        self._ended = ""
        async with aclosing(self._engine.answer(self._messages, form, self._limit)) as pieces:
            async for piece in pieces:
                self._ended = piece.ended or self._ended
                self._usage = piece.usage or self._usage
                if words := reader.feed(piece.text):
                    text = self._answer.begin("text") if text is None else text
                    self._answer.grow(text, words)
                    for delta in self._answer.take():
                        yield delta
                    said += words
                    if is_circling(said):
                        self._ended = "stop"
                        break
        self._output += self._usage.completion_tokens
        self.call = reader.call()
        if not self._ended or (self._ended != "length" and text is None and self.call is None):
            raise Disconnected("the embedded model gave no answer that can be read")

    def finish(self, model: str) -> list[Delta]:
        """The call, if it is one, and the end. A cut call is told too, so that the model hears why it did not run."""
        if self.call:
            self._answer.grow(self._answer.begin("call", name=self.call.name), self.call.arguments)
        tokens = Tokens(input=self._usage.prompt_tokens, output=self._output, cache_read=self._usage.cached_tokens)
        self._answer.finish("length" if self._ended == "length" else "stop", tokens, model, 0.0)
        return self._answer.take()


def is_circling(said: str) -> bool:
    """Whether an answer has begun to say the same again: a small model would then go on until it is cut off."""
    return said[-CIRCLE:] in said[:-CIRCLE] if len(said) > 2 * CIRCLE else False


def chat(request: ModelRequest) -> list[dict[str, str]]:
    """The request as messages; the same items always give the same bytes."""
    messages = [_message("system", f"{request.system}\n\n{instructions(request.tools)}")]
    words = ""
    for message in conversation(request.items):
        match message:
            case Said(parts=parts):
                words = "\n".join(str(text) for text in contents(parts, {}, pictures=False))
                messages.append(_message("user", words))
            case Step(parts=parts):
                for part in parts:
                    messages += _past(part, words) if isinstance(part, Reply | PastCall) else []
    return messages


def _past(part: Reply | PastCall, asked: str) -> list[dict[str, str]]:
    if isinstance(part, Reply):
        return [_message("assistant", answer_text(part.text))]
    result, _ = result_of(part, {}, pictures=False)
    return [
        _message("assistant", call_text(part.name, part.args)),
        _message(
            "user",
            f"Result of {part.name}:\n{shortened(result)}\n\nI asked: {asked[:REMINDED]}\nIf the result tells it, answer now.",
        ),
    ]


def _message(role: str, content: str) -> dict[str, str]:
    return {"role": role, "content": content}


def shortened(text: str) -> str:
    """A long result's beginning and end."""
    if len(text) <= LONGEST_RESULT:
        return text
    head, tail = LONGEST_RESULT * 3 // 4, LONGEST_RESULT // 4
    return f"{text[:head]}\n[{len(text) - head - tail:,} characters left out]\n{text[-tail:]}"


def calls_of_this_turn(items: tuple[Item, ...]) -> list[tuple[str, Any]]:
    turn = items[-1].turn if items else 0
    return [key_of(item.name, item.args) for item in items if isinstance(item, ToolCall) and item.turn == turn]


def key_of(name: str, arguments: str) -> tuple[str, Any]:
    """What makes two calls the same, however they are spaced."""
    try:
        return name, msgspec.json.decode(arguments)
    except msgspec.DecodeError:
        return name, arguments
