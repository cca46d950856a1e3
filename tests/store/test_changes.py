"""What other processes commit is noticed, and looking for it costs next to nothing."""

import asyncio
from pathlib import Path

import apsw
import pytest

from hermes.store import changes
from hermes.store.changes import Changes
from hermes.store.lane import Lane
from hermes.store.rows import fetch


class Counted(Lane):
    """Knows how often it was asked."""

    reads = 0

    async def read(self, work):
        self.reads += 1
        return await super().read(work)


@pytest.fixture
async def lane(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(changes, "GLANCE", 0.002)
    lane = Counted(tmp_path / "state.db")
    await lane.write(lambda db: fetch(db, "CREATE TABLE told (word)"))
    yield lane
    await lane.close()


def commit_elsewhere(path: Path) -> None:
    other = apsw.Connection(str(path))
    other.execute("INSERT INTO told VALUES ('x')")
    other.close()


async def test_a_commit_of_another_connection_is_noticed_by_all_who_wait(lane: Counted):
    watch = Changes(lane)
    first = await watch.after(0)
    waiting = [asyncio.create_task(watch.after(first)) for _ in range(3)]
    await asyncio.sleep(0.02)
    assert not any(task.done() for task in waiting)
    commit_elsewhere(lane.path)
    async with asyncio.timeout(2):
        assert len(set(await asyncio.gather(*waiting))) == 1
    watch.close()


async def test_our_own_commits_are_none(lane: Counted):
    watch = Changes(lane)
    first = await watch.after(0)
    waiting = asyncio.create_task(watch.after(first))
    await lane.write(lambda db: fetch(db, "INSERT INTO told VALUES ('x')"))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    watch.close()
    with pytest.raises(asyncio.CancelledError):
        await waiting


async def test_a_database_that_nobody_writes_to_is_left_alone(lane: Counted, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(changes, "LOOK", 1_000)
    watch = Changes(lane)
    first = await watch.after(0)
    reads = lane.reads
    waiting = asyncio.create_task(watch.after(first))
    await asyncio.sleep(0.1)
    assert lane.reads == reads
    waiting.cancel()
    watch.close()


async def test_a_write_that_the_files_clock_does_not_show_is_noticed_later(
    lane: Counted, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(changes, "_written", lambda path: (1, 1))
    watch = Changes(lane)
    first = await watch.after(0)
    commit_elsewhere(lane.path)
    async with asyncio.timeout(2):
        assert await watch.after(first) != first
    watch.close()
