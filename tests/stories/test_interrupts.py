"""A person who says stop is obeyed within a second, whatever Hermes is doing, and nothing goes on behind their back."""

import asyncio
import time
from pathlib import Path
from random import Random

import msgspec
import pytest

from hermes.protocol.events import Answered, Asked, ItemDelta, Notice, TurnEnded, TurnStarted
from hermes.protocol.items import Reply as Words
from hermes.protocol.items import Text
from hermes.protocol.ops import Interrupt, Say
from tests.agent.stage import ScriptedModel, answer, play
from tests.services import wire
from tests.services.model_server import ModelServer
from tests.services.request import Request
from tests.services.script import Call, Fault, Reply, call, error
from tests.stories.stage import DIALECTS, STUBBORN, Home, Story, eventually, processes_with, tell

IDLE_WITHIN = 1.0
FINE = Reply("fine")
NO_QUESTIONS = {"mode": "off"}


async def interrupt(story: Story) -> None:
    """Say stop, and see that the session is idle in time."""
    began = time.monotonic()
    await story.send(Interrupt())
    await story.until(lambda: bool(story.of(TurnEnded)))
    took = time.monotonic() - began
    assert (story.of(TurnEnded), story.session.busy) == ([TurnEnded("interrupted")], False)
    assert took <= IDLE_WITHIN, f"idle after {took:.2f} s"


async def goes_on(story: Story, server: ModelServer) -> bool:
    """Whether the next turn is answered, with nothing in its request that a provider would refuse."""
    return (await story.say("go on"), story.answers()[-1], server.violations) == (TurnEnded("done"), "fine", [])


async def begin(story: Story) -> None:
    await story.send(Say(parts=(Text("go"),)))


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_while_the_model_is_silent(home: Home, dialect):
    async with ModelServer([Reply(fault=Fault(end="stall")), FINE]) as server:
        home.use(server.base_url, dialect)
        async with tell(home) as story:
            await begin(story)
            await server.received(1)
            await interrupt(story)
            await eventually(lambda: server.open_connections == 0)
            assert await goes_on(story, server)


def grown(story: Story, channel: str) -> str:
    return "".join(delta.text for delta in story.of(ItemDelta) if delta.channel == channel)


STREAMED = Reply("It is so and so.", "Let me think.", call("write_file", path="x", content="x").calls, chunk=4)
PIECES = {"thought": "me t", "text": " and", "args": 'th":'}
"""A piece of each part of that answer, from its middle."""


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("channel", PIECES)
async def test_while_the_answer_streams(home: Home, dialect, channel):
    events = wire.stream_bytes("messages" if dialect == "anthropic" else dialect, STREAMED)
    piece = PIECES[channel]
    come = next(n for n, event in enumerate(events, 1) if msgspec.json.encode(piece)[1:-1] in event)
    stalling = msgspec.structs.replace(STREAMED, fault=Fault(end="stall", after_events=come))
    async with ModelServer([stalling, FINE]) as server:
        home.use(server.base_url, dialect)
        async with tell(home) as story:
            await begin(story)
            await story.until(lambda: grown(story, channel).endswith(piece))
            await interrupt(story)
            await eventually(lambda: server.open_connections == 0)
            assert [words.text for words in story.items(Words)] == (
                [] if channel == "thought" else ["It is so and"] if channel == "text" else [STREAMED.text]
            )
            assert list(home.work.iterdir()) == []
            assert await goes_on(story, server)


async def test_while_it_waits_between_two_tries(home: Home):
    async with ModelServer([error(503, headers={"retry-after": "100"}), FINE]) as server:
        home.use(server.base_url)
        async with tell(home) as story:
            await begin(story)
            await story.until(lambda: [notice.code for notice in story.of(Notice)] == ["retry"])
            await interrupt(story)
            assert await goes_on(story, server)


async def test_while_a_command_runs(home: Home, mark):
    async with ModelServer([call("terminal", command=f"echo begun; sleep {mark}"), FINE]) as server:
        home.use(server.base_url, approvals=NO_QUESTIONS)
        async with tell(home) as story:
            await begin(story)
            await story.until(lambda: "begun" in grown(story, "output"))
            await eventually(lambda: processes_with(mark))
            await interrupt(story)
            assert processes_with(mark) == []
            assert await goes_on(story, server)
            [result] = server.last.results.values()
            assert "Interrupted" in result and "begun" in result


async def test_while_a_child_of_setsid_ignores_every_signal(home: Home, mark):
    async with ModelServer([call("terminal", command=f"{STUBBORN} {mark}"), FINE]) as server:
        home.use(server.base_url, approvals=NO_QUESTIONS)
        async with tell(home) as story:
            await begin(story)
            await eventually(lambda: len(processes_with(mark)) >= 2)
            await interrupt(story)
            assert processes_with(mark) == []
            assert await goes_on(story, server)


async def test_while_several_commands_and_a_background_process_run(home: Home, mark):
    script = [
        call("terminal", command=f"sleep {mark}", background=True),
        call("terminal", command=f"sleep {mark}"),
        FINE,
    ]
    async with ModelServer(script) as server:
        home.use(server.base_url, approvals=NO_QUESTIONS)
        async with tell(home) as story:
            await begin(story)
            await eventually(lambda: len(processes_with(mark)) == 2)
            await interrupt(story)
            assert len(processes_with(mark)) == 1
            await story.send(Interrupt(background=True))
            await eventually(lambda: processes_with(mark) == [])
            assert await goes_on(story, server)


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_while_a_question_is_open(home: Home, dialect, mark):
    async with ModelServer([call("terminal", command=f"git push {mark}"), FINE]) as server:
        home.use(server.base_url, dialect)
        async with tell(home) as story:
            await begin(story)
            await story.until(lambda: bool(story.of(Asked)))
            await interrupt(story)
            assert [answered.how for answered in story.of(Answered)] == ["cancelled"]
            assert processes_with(mark) == []
            assert await goes_on(story, server)


async def test_closing_the_session_ends_its_background_processes(home: Home, mark):
    async with ModelServer([call("terminal", command=f"sleep {mark}", background=True), FINE]) as server:
        home.use(server.base_url, approvals=NO_QUESTIONS)
        async with tell(home) as story:
            assert await story.say("go") == TurnEnded("done")
            await eventually(lambda: len(processes_with(mark)) == 1)
    assert processes_with(mark) == []


async def test_a_stop_that_follows_at_once(home: Home):
    async with ModelServer(lambda _: FINE) as server:
        home.use(server.base_url)
        async with tell(home) as story:
            await asyncio.gather(begin(story), story.send(Interrupt()))
            await eventually(lambda: not story.session.busy, seconds=10)
            assert await goes_on(story, server)


async def test_a_stop_that_a_library_swallows(tmp_path: Path):
    """While it opens a connection, the HTTP library may take the cancellation for one of its own."""

    async def swallow() -> None:
        task = asyncio.current_task()
        assert task is not None
        try:
            await asyncio.sleep(1000)
        except asyncio.CancelledError:
            task.uncancel()
        await asyncio.sleep(1000)

    async with play(tmp_path, ScriptedModel([swallow], answer("fine"))) as story:
        await story.send(Say(parts=(Text("go"),)))
        await story.until(lambda: bool(story.of(TurnStarted)))
        began = time.monotonic()
        await story.send(Interrupt())
        await story.until(lambda: story.of(TurnEnded) == [TurnEnded("interrupted")])
        assert time.monotonic() - began <= IDLE_WITHIN
        assert await story.say("go on") == TurnEnded("done")


async def interrupt_at_random(home: Home, mark: str, count: int) -> list[float]:
    """Say stop at random moments of turns that do all kinds of things; gives how long each took to be idle."""
    chance = Random(count)

    def answer(_: Request) -> Reply:
        name = f"{chance.randrange(10)}.txt"
        return chance.choice(
            [
                call("terminal", command=f"sleep 0.05; sleep {mark}"),
                call("terminal", command=f"seq 20000 > {name}; cat {name}"),
                Reply("Both.", calls=tuple(Call("write_file", {"path": f"{n}{name}", "content": n}) for n in "ab")),
                call("read_file", path="."),
                Reply("Slow words. " * 40, thought="Hm.", fault=Fault(delay=chance.uniform(0, 0.1))),
                Reply(thought="Long ago. " * 9, fault=Fault(end="stall", after_events=chance.randrange(9))),
            ]
        )

    took: list[float] = []
    async with ModelServer(answer) as server:
        home.use(server.base_url, DIALECTS[count % 3], approvals=NO_QUESTIONS)
        async with tell(home) as story:
            for number in range(1, count + 1):
                await begin(story)
                await asyncio.sleep(chance.uniform(0, 0.3))
                began = time.monotonic()
                await story.send(Interrupt())
                await story.until(lambda number=number: len(story.of(TurnEnded)) == number)
                took.append(time.monotonic() - began)
                assert story.of(TurnEnded)[-1].reason in ("interrupted", "done"), story.of(TurnEnded)[-1]
                assert processes_with(mark) == []
    assert server.violations == []
    return took


async def test_at_random_moments(home: Home, mark):
    took = await interrupt_at_random(home, mark, 30)
    assert max(took) <= IDLE_WITHIN


@pytest.mark.soak
async def test_at_a_thousand_random_moments(home: Home, mark):
    took = await interrupt_at_random(home, mark, 1000)
    assert sorted(took)[989] <= IDLE_WITHIN
