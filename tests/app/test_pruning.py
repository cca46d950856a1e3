"""Old sessions are deleted by themselves where the settings want it: once a day, and never one that is open."""

import asyncio
import os
import sys
import time
from pathlib import Path

from hermes.app import Wish
from hermes.app.pruning import DAY, Pruning
from hermes.store.owner import this_process
from hermes.store.sqlite import SqliteStore
from tests.cli.stories import store_story, story
from tests.commands.surface import person

ON = "sessions: {auto_prune: true, retention_days: 30}\n"
OLD, OPEN, YOUNG = "20260101_120000_aaaaaa", "20260101_130000_bbbbbb", "20270101_120000_cccccc"


async def keep(folder: Path, name: str, days: float, open_in: str = "") -> None:
    """Store a session that was last used so many days ago."""
    home = folder / "home"
    home.mkdir(exist_ok=True)
    await store_story(home, name, story("hello"), began=time.time() - days * DAY, open_in=open_in)


async def left(store: SqliteStore) -> set[str]:
    return {row.id for row in await store.sessions(limit=100)}


def mark(folder: Path) -> Path:
    return folder / "home" / ".sessions-pruned"


async def until_done(folder: Path, after: float = 0.0) -> None:
    """Wait for the end of a run that began after this moment."""
    async with asyncio.timeout(5):
        while not (mark(folder).exists() and mark(folder).stat().st_mtime > after):
            await asyncio.sleep(0.01)


async def test_what_nobody_used_for_long_is_deleted_when_a_session_is_opened(tmp_path):
    await keep(tmp_path, OLD, 40)
    await keep(tmp_path, OPEN, 40, open_in=this_process())
    await keep(tmp_path, YOUNG, 20)
    async with person(tmp_path, settings=ON) as me:
        await until_done(tmp_path)
        assert await left(me.app.store) == {OPEN, YOUNG, me.session.id}


async def test_it_is_done_once_a_day(tmp_path):
    async with person(tmp_path, settings=ON) as me:
        await until_done(tmp_path)
        await keep(tmp_path, OLD, 40)
        pruning = Pruning(me.app.store, mark(tmp_path))
        pruning.begin(30)
        await pruning.close()
        assert OLD in await left(me.app.store)
        yesterday = time.time() - DAY - 1
        os.utime(mark(tmp_path), (yesterday, yesterday))
        await (await me.app.open(Wish(cwd=str(tmp_path / "work")))).close()
        await until_done(tmp_path, yesterday)
        assert OLD not in await left(me.app.store)


async def test_an_old_session_that_is_opened_again_stays(tmp_path):
    await keep(tmp_path, OLD, 40)
    async with person(tmp_path) as me:
        again = await me.app.open(Wish(resume=OLD, cwd=str(tmp_path / "work")))
        pruning = Pruning(me.app.store, mark(tmp_path))
        pruning.begin(30)
        await until_done(tmp_path)
        assert OLD in await left(me.app.store)
        await pruning.close()
        await again.close()


async def test_without_the_setting_nothing_is_deleted_and_nothing_loaded(tmp_path, monkeypatch):
    monkeypatch.delitem(sys.modules, "hermes.app.pruning", raising=False)
    await keep(tmp_path, OLD, 4000)
    async with person(tmp_path) as me:
        assert OLD in await left(me.app.store)
        assert "hermes.app.pruning" not in sys.modules and not mark(tmp_path).exists()
