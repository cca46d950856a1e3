"""llama.cpp in this process, with a real small model: forced, quiet, stopped at once, and out of reach for others."""

import asyncio
import os
import sys
import time
from contextlib import aclosing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from hermes.models.engine import Engine
from hermes.protocol.errors import BadRequest, ContextTooLong, UserError

WORD: dict[str, Any] = {
    "type": "object",
    "properties": {
        "colour": {"enum": ["green", "blue"], "format": "a-word-that-nobody-knows"},
        "size": {"type": "integer", "minimum": 3, "maximum": 5},
        "done": {"const": True},
    },
    "required": ["colour", "size", "done"],
    "additionalProperties": False,
}
LONG = " ".join(f"Line {n} says nothing." for n in range(600))


def ask(text: str) -> list[dict[str, str]]:
    return [{"role": "user", "content": text}]


async def said(engine: Engine, messages: list[dict[str, str]], schema: Any = WORD) -> tuple[str, str, int]:
    """The text, why it ended, and how many tokens of the prompt were known already."""
    text, ended, cached = "", "", 0
    async with aclosing(engine.answer(messages, schema, 60)) as pieces:
        async for piece in pieces:
            text += piece.text
            ended = piece.ended or ended
            cached = piece.usage.cached_tokens if piece.usage else cached
    return text, ended, cached


async def test_what_it_says_has_the_form_that_was_asked_for(engine: Engine):
    text, ended, _ = await said(engine, ask("Write a poem about the sea."))
    value = msgspec.json.decode(text)
    assert ended == "stop"
    assert value == {"colour": value["colour"], "size": value["size"], "done": True}
    assert value["colour"] in ("green", "blue")
    assert value["size"] in (3, 4, 5)


async def test_words_come_one_by_one(engine: Engine):
    longer = {"type": "string", "minLength": 40, "maxLength": 50}
    async with aclosing(engine.answer(ask("Hello."), longer, 60)) as pieces:
        texts = [piece.text async for piece in pieces if piece.text]
    assert len(texts) > 5
    assert 40 <= len(msgspec.json.decode("".join(texts))) <= 50


async def test_a_prompt_that_goes_on_is_not_evaluated_from_its_start(engine: Engine):
    messages = ask(" ".join(f"Fact {n}." for n in range(30)))
    text, _, first = await said(engine, messages)
    messages += [{"role": "assistant", "content": text}, *ask("Again.")]
    _, _, second = await said(engine, messages)
    assert first < 50 < 100 < second


async def test_closing_while_the_prompt_is_read_ends_at_once_and_frees_the_engine(engine: Engine):
    pieces = engine.answer(ask(LONG), WORD, 60)
    await anext(pieces)
    began = time.monotonic()
    await anext(pieces)
    one_batch = time.monotonic() - began
    began = time.monotonic()
    await pieces.aclose()
    assert time.monotonic() - began < 0.2
    async with aclosing(engine.answer(ask("Short."), WORD, 60)) as others:
        await anext(others)
    # All of the prompt are 60 batches.
    assert time.monotonic() - began < 20 * one_batch


async def test_one_who_waits_for_another_answer_can_leave(engine: Engine):
    running = engine.answer(ask(LONG), WORD, 60)
    await anext(running)
    waiting = asyncio.create_task(said(engine, ask("Next.")))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    await running.aclose()


async def test_the_loop_is_free_while_the_model_thinks(engine: Engine):
    late = 0.0

    async def tick() -> None:
        nonlocal late
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            late = max(late, time.monotonic() - before - 0.01)

    ticking = asyncio.create_task(tick())
    await said(engine, ask(LONG[:400]))
    ticking.cancel()
    assert late < 0.5


async def test_more_than_the_window_is_said_to_be_too_long(engine: Engine):
    with pytest.raises(ContextTooLong, match="exceeds the available context size"):
        await said(engine, ask(LONG * 4))


async def test_a_request_that_cannot_be_read_is_refused(engine: Engine):
    with pytest.raises(BadRequest, match="the embedded model refused the request"):
        await said(engine, [{"role": "user"}])


async def test_a_file_that_is_no_model_is_named(tmp_path: Path):
    broken = tmp_path / "broken.gguf"
    broken.write_bytes(b"GGUF" + bytes(1000))
    with pytest.raises(UserError) as caught:
        await Engine.load(broken, window=512)
    assert (str(caught.value), caught.value.hint) == (
        f"the model file {broken} cannot be loaded",
        "delete it to have it fetched again",
    )


async def test_nothing_is_printed_and_nobody_can_connect(
    smollm2: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    before = listening()
    engine = await Engine.load(smollm2, window=512, threads=1)
    await said(engine, ask("Hello."))
    assert listening() == before
    await engine.close()
    assert capfd.readouterr() == ("", "")


def listening() -> set[str]:
    """Doors of this process that others could knock at: TCP ports, and Unix sockets that have a path."""
    if sys.platform != "linux":
        pytest.skip("/proc is read")
    own = {
        os.readlink(f"/proc/self/fd/{fd}")
        for fd in os.listdir("/proc/self/fd")
        if os.path.lexists(f"/proc/self/fd/{fd}")
    }
    doors: set[str] = set()
    for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]:
        fields = line.split()
        if fields[3] == "0A" and f"socket:[{fields[9]}]" in own:
            doors.add(fields[1])
    for line in Path("/proc/self/net/unix").read_text().splitlines()[1:]:
        fields = line.split()
        if len(fields) == 8 and f"socket:[{fields[6]}]" in own and os.path.exists(fields[7]):
            doors.add(fields[7])
    return doors
