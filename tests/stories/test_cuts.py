"""A stream with calls that ends early at any event: nothing runs from what came, and the session goes on."""

from typing import Literal

import pytest

from hermes.protocol.events import TurnEnded
from tests.services import wire
from tests.services.model_server import ModelServer
from tests.services.request import Request
from tests.services.script import Call, Fault, Reply
from tests.services.wire.frames import Asked, Dialect
from tests.stories.stage import Home, QuickApp, tell

WIRES: dict[str, Dialect] = {"chat": "chat", "responses": "responses", "anthropic": "messages"}
ENDINGS: dict[str, str] = {
    "chat": '"finish_reason":"tool_calls"',
    "responses": '"type":"response.completed"',
    "anthropic": '"stop_reason":"tool_use"',
}
"""What the provider sends once all of an answer is there."""


def writes(number: int) -> Reply:
    """An answer with a thought, text and two calls, each of which would leave a file behind."""
    return Reply(
        "I will write it.",
        thought="A file is wanted.",
        calls=(
            Call("write_file", {"path": f"{number}.txt", "content": f"written by answer {number}"}),
            Call("terminal", {"command": f"touch {number}.ran"}),
        ),
        chunk=16,
    )


def events_of(dialect: str) -> list[bytes]:
    return wire.stream_bytes(WIRES[dialect], writes(0), Asked(include_usage=dialect == "chat"))


def cut(number: int, end: Literal["cut", "reset", "error"]) -> Reply:
    whole = writes(number)
    return Reply(whole.text, whole.thought, whole.calls, chunk=whole.chunk, fault=Fault(end=end, after_events=number))


@pytest.mark.parametrize("dialect", WIRES)
@pytest.mark.parametrize("end", ["cut", "reset", "error"])
async def test_nothing_runs_from_an_answer_that_ended_early(home: Home, dialect, end):
    """One turn for each place where the stream may end, all in one session; then a whole answer, which does run."""
    events = events_of(dialect)
    told = next(index for index, event in enumerate(events) if ENDINGS[dialect].encode() in event)
    assert told > 10

    def answer(request: Request) -> Reply:
        # Messages that were never answered may be sent as one.
        number = int(request.user_text.split()[-1])
        if request.results:
            return Reply("done")
        return cut(number, end) if number <= told else writes(number)

    async with ModelServer(answer) as server:
        home.use(server.base_url, dialect, agent={"api_max_retries": 0}, approvals={"mode": "off"})
        async with tell(home) as story:
            for number in range(told + 1):
                ended = await story.say(f"turn {number}")
                assert (ended.reason, list(home.work.iterdir())) == ("failed", []), f"after {number} events: {ended}"
                assert len(server.requests) == number + 1
            assert {call.status for call in story.calls()} == {"discarded"}
            assert await story.say(f"turn {told + 1}") == TurnEnded("done")
            assert sorted(path.name for path in home.work.iterdir()) == [f"{told + 1}.ran", f"{told + 1}.txt"]
            assert story.answers() == ["I will write it.", "done"]
    assert server.violations == []


@pytest.mark.parametrize("dialect", WIRES)
async def test_an_answer_that_ended_early_is_asked_for_again_and_runs_once(home: Home, dialect):
    last = next(index for index, event in enumerate(events_of(dialect)) if ENDINGS[dialect].encode() in event)

    async with ModelServer([cut(last, "cut"), writes(last), Reply("done")]) as server:
        home.use(server.base_url, dialect, approvals={"mode": "off"})
        async with tell(home, QuickApp(home.settings())) as story:
            assert await story.say("go") == TurnEnded("done")
            assert [call.status for call in story.calls()] == ["discarded", "discarded", "done", "done"]
            assert sorted(path.name for path in home.work.iterdir()) == [f"{last}.ran", f"{last}.txt"]
    assert (server.violations, len(server.requests)) == ([], 3)
