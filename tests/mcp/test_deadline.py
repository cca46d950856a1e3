import asyncio

from hermes.mcp.clock import SystemClock
from hermes.mcp.deadline import Deadline
from tests.mcp.rig import HandClock


def test_it_runs_down_with_the_clock() -> None:
    clock = HandClock()
    deadline = Deadline(clock, 10)
    clock.now += 4
    assert deadline.left() == 6
    clock.now += 100
    assert deadline.left() == 0


def test_it_stands_still_while_people_are_asked() -> None:
    clock = HandClock()
    deadline = Deadline(clock, 10)
    with deadline.paused():
        clock.now += 300
        with deadline.paused():
            clock.now += 300
        assert deadline.left() == 10
    clock.now += 3
    assert deadline.left() == 7


async def test_work_that_is_done_in_time_is_waited_for() -> None:
    work = asyncio.create_task(asyncio.sleep(0.01, "done"))
    assert await Deadline(SystemClock(), 5).allows(work)
    assert work.result() == "done"


async def test_work_that_is_late_is_left_running() -> None:
    work = asyncio.create_task(asyncio.sleep(60))
    assert not await Deadline(SystemClock(), 0.01).allows(work)
    assert not work.done()
    work.cancel()


async def test_a_pause_that_began_after_the_wait_counts_too() -> None:
    clock = HandClock()
    deadline = Deadline(clock, 10)
    work = asyncio.create_task(asyncio.sleep(60))
    waiting = asyncio.create_task(deadline.allows(work))
    await asyncio.sleep(0)
    with deadline.paused():
        await clock.move(50)
        assert not waiting.done()
    await clock.move(9)
    assert not waiting.done()
    await clock.move(1.1)
    assert await waiting is False
    work.cancel()
