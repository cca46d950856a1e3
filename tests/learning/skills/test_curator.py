"""When the curator works, and what it does then."""

import pytest

from hermes.learning.skills.curator import HOUR, Curator, Rhythm
from hermes.learning.skills.life import DAY
from hermes.store.owner import this_process


@pytest.fixture
def tried() -> list[float]:
    return []


def curator(room, tried) -> Curator:
    async def again() -> list[str]:
        tried.append(room.now)
        return []

    return Curator(room.life, again, Rhythm(), this_process(), lambda: room.now)


async def test_it_works_once_a_week_when_nobody_was_at_work_for_two_hours(room, tried):
    one = curator(room, tried)
    assert not await one.is_due(room.now - DAY)
    room.now += 167 * HOUR
    assert not await one.is_due(room.now - DAY)
    room.now += 2 * HOUR
    assert not await one.is_due(room.now - HOUR)
    assert await one.is_due(room.now - 3 * HOUR)
    await one.run()
    assert tried == [room.now]
    assert not await one.is_due(room.now - DAY)


async def test_paused_it_works_only_when_it_is_told(room, tried):
    one = curator(room, tried)
    await one.is_due(room.now)
    await one.pause(True)
    room.now += 30 * DAY
    assert not await one.is_due(room.now - DAY)
    assert (await one.status())[1]
    await one.run()
    await one.pause(False)
    room.now += 30 * DAY
    assert await one.is_due(room.now - DAY)


async def test_two_of_them_do_not_work_at_once(room, tried):
    one, other = curator(room, tried), this_process()
    assert await room.store.claim("curator", other)
    assert await one.run() == []
    assert tried == []


async def test_it_tends_what_hermes_wrote_and_leaves_the_rest_alone(room, tried):
    folder = await room.adopt()
    mine = room.write("mine")
    room.now += 31 * DAY
    assert await curator(room, tried).run() == ["report was not used for 31 days: it is stale."]
    room.now += 365 * DAY
    await curator(room, tried).run()
    assert not folder.exists()
    assert mine.exists()
