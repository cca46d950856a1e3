"""Lines of input that a thread reads: who gets which."""

import asyncio
from queue import SimpleQueue

import pytest

from hermes.cli.reader import Lines


class Typist:
    """Types lines that `Lines` reads; None is the end."""

    def __init__(self) -> None:
        self._typed: SimpleQueue[str | None] = SimpleQueue()
        self.lines = Lines(self._typed.get)

    def type(self, line: str | None) -> None:
        self._typed.put(line)

    async def until_idle(self) -> None:
        async with asyncio.timeout(5):
            while self.lines.reading:
                await asyncio.sleep(0.001)

    async def waiting(self, *, fresh: bool = False) -> asyncio.Task[str | None]:
        """Somebody who waits for a line from now on."""
        task = asyncio.create_task(self.lines.next(fresh=fresh))
        await asyncio.sleep(0)
        return task


async def test_lines_come_in_order_and_then_the_end():
    typist = Typist()
    for line in ("a", "", "b", None):
        typist.type(line)
    assert [await typist.lines.next() for _ in range(5)] == ["a", "", "b", None, None]


async def test_nothing_is_read_before_somebody_wants_a_line():
    typist = Typist()
    typist.type("a")
    await asyncio.sleep(0.01)
    assert not typist.lines.reading
    assert await typist.lines.next() == "a"


async def test_who_stops_waiting_does_not_swallow_the_next_line():
    typist = Typist()
    gone = await typist.waiting()
    gone.cancel()
    await asyncio.wait([gone])
    typist.type("for the next")
    await typist.until_idle()
    assert await typist.lines.next() == "for the next"


async def test_a_line_that_comes_while_its_reader_is_cancelled_is_not_lost():
    typist = Typist()
    gone = await typist.waiting()
    typist.lines._arrived("late")  # as the thread does, and cancelled before the task could run
    gone.cancel()
    await asyncio.wait([gone])
    assert gone.cancelled()
    assert await typist.lines.next() == "late"


async def test_the_one_who_asked_last_gets_the_line_and_the_other_the_next():
    typist = Typist()
    prompt, question = await typist.waiting(), await typist.waiting()
    typist.type("yes")
    assert await question == "yes"
    typist.type("hello")
    assert await prompt == "hello"


async def test_a_fresh_line_is_none_from_before():
    typist = Typist()
    gone = await typist.waiting()
    gone.cancel()
    typist.type("before")
    await typist.until_idle()
    question = await typist.waiting(fresh=True)
    typist.type("after")
    assert (await question, await typist.lines.next()) == ("after", "before")


async def test_while_lines_are_held_nobody_reads():
    typist = Typist()
    prompt = await typist.waiting()
    with typist.lines.held():
        question = await typist.waiting(fresh=True)
        typist.type("meant for the prompt")
        typist.lines.give_back(await question)
        assert not typist.lines.reading
        assert not prompt.done()
    assert await prompt == "meant for the prompt"


@pytest.mark.parametrize("fresh", [True, False])
async def test_the_end_reaches_everybody(fresh: bool):
    typist = Typist()
    waiting = [await typist.waiting(), await typist.waiting(fresh=fresh)]
    typist.type(None)
    assert [await task for task in waiting] == [None, None]
    assert await typist.lines.next(fresh=fresh) is None


async def test_whoever_stops_reading_ends_it_for_those_who_wait():
    typist = Typist()
    waiting = await typist.waiting()
    typist.lines.end()
    assert await waiting is None
    typist.type("too late")
    await typist.until_idle()
    assert await typist.lines.next(fresh=True) is None
