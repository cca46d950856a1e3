"""`hermes curator`: the skills that Hermes wrote, from the command line."""

import time

import pytest

from hermes.learning.skills.birth import Source
from hermes.store.sqlite import SqliteStore
from tests.cli.command import Hermes, Ran
from tests.learning.skills.room import NEW, PROVEN, Room


@pytest.fixture
def hermes(tmp_path) -> Hermes:
    hermes = Hermes(tmp_path)
    hermes.home.mkdir()
    return hermes


async def write_one(hermes: Hermes) -> None:
    async with SqliteStore(hermes.home / "state.db") as store:
        room = Room(hermes.home, store)
        room.now = time.time()
        await room.workshop.create(NEW, Source("agent", "s", 1), PROVEN)
        await room.life.approve(NEW.name)


def test_it_tells_how_things_are(hermes):
    assert hermes("curator") == Ran(0, "It has not worked yet. Skills that Hermes wrote: none.\n")


async def test_a_skill_is_pinned_archived_and_restored(hermes):
    await write_one(hermes)
    folder = hermes.home / "skills" / "office" / "report"
    assert await hermes.beside("curator", "pin", "report") == Ran(0, "report is pinned.\n")
    refused = await hermes.beside("curator", "archive", "report")
    assert (refused.code, refused.err) == (2, "hermes: report is pinned (hermes curator unpin report)\n")
    await hermes.beside("curator", "unpin", "report")
    assert (await hermes.beside("curator", "archive", "report")).code == 0
    assert not folder.exists()
    assert await hermes.beside("curator", "restore", "report") == Ran(0, "report is active again.\n")
    assert folder.exists()


async def test_a_run_by_hand_works_and_is_noted(hermes):
    await write_one(hermes)
    assert await hermes.beside("curator", "run") == Ran(0, "There was nothing to do.\n")
    assert (await hermes.beside("curator", "pause")).out == "The curator is paused.\n"
    status = (await hermes.beside("curator", "status")).out
    assert "It last worked on " in status
    assert status.endswith("and is paused. Skills that Hermes wrote: 1 active.\n")
    assert (await hermes.beside("curator", "resume")).out == "The curator works again.\n"


def test_a_skill_that_is_not_there_is_one_line(hermes):
    ran = hermes("curator", "archive", "nothing")
    assert (ran.code, ran.out) == (2, "")
    assert ran.err.startswith("hermes: Hermes did not write a skill 'nothing'")
