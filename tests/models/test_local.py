"""The embedded model as the loop sees it: one call or one answer a step, in deltas, and no running in circles."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import msgspec
import pytest

from hermes.models.engine import Engine, Piece, Usage
from hermes.models.local import LONGEST_RESULT, Local, chat, shortened
from hermes.protocol.errors import Disconnected
from hermes.protocol.items import Image, Item, Reply, Text, ToolCall, UserMessage
from hermes.protocol.models import Began, Delta, Ended, Finished, Grew, Model, ModelRequest, Tokens, ToolSpec

READ = ToolSpec(
    "read_file",
    "Read a file.",
    msgspec.Raw(b'{"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}'),
)
ASKED = UserMessage(id="u", turn=1, step=0, index=0, parts=(Text("What does a.txt say?"),))
READ_A = '{"name": "read_file", "arguments": {"path": "a.txt"}}'
READ_B = '{"name": "read_file", "arguments": {"path": "b.txt"}}'
HELLO = '{"name": "answer", "arguments": {"text": "It says hello."}}'


def called(step: int, path: str, result: str = "hello", turn: int = 1) -> ToolCall:
    return ToolCall(
        id=f"c{step}",
        turn=turn,
        step=step,
        index=0,
        call_id=f"call_{step}",
        name="read_file",
        args=f'{{"path":"{path}"}}',
        status="done",
        result=(Text(result),),
    )


def request(*items: Item, **more: Any) -> ModelRequest:
    return ModelRequest(system="You are Hermes.", tools=(READ,), items=(ASKED, *items), **more)


class Script:
    """An engine that says what it was told to, a few letters at a time, and remembers what it was allowed to say."""

    def __init__(self, *answers: str, ended: str = "stop") -> None:
        self.answers = list(answers)
        self.ended = ended
        self.allowed: list[list[str]] = []
        self.open = 0

    async def answer(self, messages: list[dict[str, str]], schema: dict[str, Any], limit: int) -> AsyncGenerator[Piece]:
        self.allowed.append([form["properties"]["name"]["const"] for form in schema["anyOf"]])
        text = self.answers.pop(0)
        self.open += 1
        try:
            for at in range(0, len(text), 25):
                yield piece(choices=[{"delta": {"content": text[at : at + 25]}}])
            yield piece(choices=[{"finish_reason": self.ended or None}])
            yield Piece(usage=Usage(100, 20, {"cached_tokens": 90}))
        finally:
            self.open -= 1

    async def close(self) -> None:
        self.answers.clear()


def piece(**fields: Any) -> Piece:
    return msgspec.convert(fields, Piece)


def model_on(engine: Any) -> Local:
    async def load() -> Any:
        return engine

    return Local("tiny", load)


async def deltas(engine: Any, asked: ModelRequest) -> list[Delta]:
    """Everything that one step gives, with the random id of a call made known."""
    found = [delta async for delta in model_on(engine).stream(asked)]
    return [
        msgspec.structs.replace(delta, call_id="ID") if isinstance(delta, Began) and delta.call_id else delta
        for delta in found
    ]


def finished(reason: Any, output: int = 20) -> Finished:
    return Finished(reason, Tokens(input=100, output=output, cache_read=90), "local:tiny", 0.0)


def test_it_is_a_model_that_wants_the_small_prompt():
    model: Model = model_on(Script())
    assert (model.name, model.dialect, model.window, model.profile) == ("local:tiny", "local", 8192, "small")


async def test_an_answer_comes_as_words_and_not_as_json():
    assert await deltas(Script(HELLO), request()) == [
        Began(0, "text"),
        Grew(0, "It says "),
        Grew(0, "hello."),
        Ended(0),
        finished("stop"),
    ]


async def test_an_answer_that_says_the_same_again_is_ended_there():
    sentence = "The project is also designed to be used in a variety of places and for a variety of ends. "
    engine = Script(
        msgspec.json.encode({"name": "answer", "arguments": {"text": sentence * 40}}).decode(), ended="length"
    )
    told = await deltas(engine, request())
    words = "".join(delta.text for delta in told if isinstance(delta, Grew))
    assert told[-1] == Finished("stop", Tokens(), "local:tiny", 0.0)
    assert len(sentence) < len(words) < 3 * len(sentence)
    assert engine.open == 0


async def test_a_call_comes_whole():
    assert await deltas(Script(READ_A), request()) == [
        Began(0, "call", "ID", "read_file"),
        Grew(0, '{"path": "a.txt"}'),
        Ended(0),
        finished("calls"),
    ]


async def test_the_call_just_made_is_not_made_again_and_the_model_must_answer():
    engine = Script(READ_A, HELLO)
    assert (await deltas(engine, request(called(1, "a.txt"))))[-1] == finished("stop", output=40)
    assert engine.allowed == [["read_file", "answer"], ["answer"]]


async def test_an_earlier_call_may_be_made_once_more_because_things_change():
    engine = Script(READ_A)
    steps = await deltas(engine, request(called(1, "a.txt"), called(2, "b.txt")))
    assert steps[0] == Began(0, "call", "ID", "read_file")
    assert engine.allowed == [["read_file", "answer"]]


async def test_after_a_call_for_the_second_time_only_the_answer_is_left():
    engine = Script(HELLO)
    await deltas(engine, request(called(1, "a.txt"), called(2, "b.txt"), called(3, "a.txt")))
    assert engine.allowed == [["answer"]]


async def test_calls_of_an_earlier_turn_do_not_count():
    engine = Script(READ_A)
    again = UserMessage(id="v", turn=2, step=1, index=0, parts=(Text("And now?"),))
    steps = await deltas(engine, request(called(1, "a.txt"), again))
    assert steps[-1] == finished("calls")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HELLO[:-5], [Began(0, "text"), Grew(0, "It says "), Grew(0, "hell"), Ended(0), finished("length")]),
        (READ_A[:-7], [Began(0, "call", "ID", "read_file"), Grew(0, '{"path": "a'), Ended(0), finished("length")]),
        (HELLO[:20], [finished("length")]),
    ],
    ids=["in the answer", "in a call", "before either"],
)
async def test_what_reached_the_limit_says_so(text: str, expected: list[Delta]):
    assert await deltas(Script(text, ended="length"), request()) == expected


@pytest.mark.parametrize(("text", "ended"), [("Sure, here it is", "stop"), (READ_A, "")], ids=["no JSON", "no end"])
async def test_what_cannot_be_read_is_no_answer(text: str, ended: str):
    with pytest.raises(Disconnected, match="the embedded model gave no answer that can be read"):
        await deltas(Script(text, ended=ended), request())


async def test_closing_the_stream_closes_the_engine_s_answer():
    engine = Script(HELLO)
    stream = model_on(engine).stream(request())
    await anext(stream)
    assert engine.open == 1
    await stream.aclose()
    assert engine.open == 0


async def test_two_who_ask_at_once_load_it_once():
    loads = 0

    async def load() -> Script:
        nonlocal loads
        loads += 1
        await asyncio.sleep(0)
        return Script(HELLO, HELLO)

    model = Local("tiny", load)

    async def ask() -> Delta:
        return [delta async for delta in model.stream(request())][-1]

    assert await asyncio.gather(ask(), ask()) == [finished("stop"), finished("stop")]
    assert loads == 1


def test_the_history_is_told_as_the_model_would_have_written_it():
    later = UserMessage(id="w", turn=2, step=2, index=0, parts=(Text("Thanks."), Image("f00", "image/png", "cat.png")))
    told = Reply(id="r", turn=1, step=2, index=0, text='It says "hello".')
    assert chat(request(called(1, "a.txt"), told, later))[1:] == [
        {"role": "user", "content": "What does a.txt say?"},
        {"role": "assistant", "content": '{"name": "read_file", "arguments": {"path":"a.txt"}}'},
        {
            "role": "user",
            "content": "Result of read_file:\nhello\n\nI asked: What does a.txt say?\nIf the result tells it, answer now.",
        },
        {"role": "assistant", "content": r'{"name": "answer", "arguments": {"text": "It says \"hello\"."}}'},
        {"role": "user", "content": "Thanks.\n[a picture that cannot be shown here: cat.png]"},
    ]


def test_a_long_result_is_cut_in_its_middle():
    assert shortened("a" * LONGEST_RESULT) == "a" * LONGEST_RESULT
    assert shortened("a" * 3000 + "z" * 3000) == (f"{'a' * 1500}\n[4,000 characters left out]\n{'z' * 500}")


async def test_a_real_model_answers_and_remembers_what_it_has_read(engine: Engine):
    """Circling, so that it must answer: what a tiny model would choose is anybody's guess."""
    circling = request(called(1, "a.txt"), called(2, "b.txt"), called(3, "a.txt"), max_output=40)
    first = [delta async for delta in model_on(engine).stream(circling)]
    second = [delta async for delta in model_on(engine).stream(circling)]
    assert first[0] == Began(0, "text")
    assert isinstance(end := first[-1], Finished) and end.reason in ("stop", "length")
    assert isinstance(end := second[-1], Finished) and end.tokens.cache_read >= end.tokens.input - 1


async def test_a_real_model_says_a_call_or_an_answer(engine: Engine):
    parts = [delta async for delta in model_on(engine).stream(request(max_output=200))]
    match parts[0]:
        case Began(kind="call", name="read_file"):
            arguments = "".join(delta.text for delta in parts if isinstance(delta, Grew))
            assert isinstance(end := parts[-1], Finished)
            assert end.reason == "length" or msgspec.json.decode(arguments).keys() == {"path"}
        case other:
            assert other == Began(0, "text")
