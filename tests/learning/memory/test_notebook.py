"""The notebook keeps rows and files together, whatever is edited outside and whoever dies in between."""

import asyncio
import random
import sys
from pathlib import Path

import pytest

from hermes.learning.memory.entries import Source, usefulness
from hermes.learning.memory.notebook import Notebook
from hermes.learning.memory.text import split
from hermes.protocol.errors import StoreError
from hermes.protocol.memories import Memory
from hermes.store.sqlite import SqliteStore
from tests.learning.memory.desk import Clock, contents, edit_outside, file_of, notebook

TOOL = Source("agent", "s", "i")
CHILD = Path(__file__).with_name("adding_child.py")


async def add(book: Notebook, *texts: str) -> None:
    for content in texts:
        async with book.change("tool") as draft:
            draft.entries.add("memory", content, TOOL)


async def test_an_entry_that_was_written_into_the_file_is_taken_in(tmp_path):
    edit_outside(tmp_path, lambda text: "brought along\n§\ntwo\nlines\n")
    async with notebook(tmp_path) as book:
        await add(book, "mine")
        assert file_of(tmp_path) == "brought along\n§\ntwo\nlines\n§\nmine\n"
        edit_outside(tmp_path, lambda text: text + "§\nby hand\n")
        await add(book, "later")
        assert file_of(tmp_path) == "brought along\n§\ntwo\nlines\n§\nmine\n§\nby hand\n§\nlater\n"
        assert [row.origin for row in await book.store.entries()] == ["file", "file", "agent", "file", "agent"]


async def test_an_entry_that_was_taken_out_of_the_file_is_retired(tmp_path):
    async with notebook(tmp_path) as book:
        await add(book, "one", "two")
        edit_outside(tmp_path, lambda text: "two\n")
        await book.sync()
        assert (await contents(book), file_of(tmp_path)) == (["two"], "two\n")
        [change] = [change for change in await book.store.changes() if change.verb == "retire"]
        assert (change.by, change.after.content) == ("file", "one")


async def test_an_entry_that_was_edited_in_the_file_supersedes_what_it_was(tmp_path):
    async with notebook(tmp_path) as book:
        await add(book, "port 80", "host atlas")
        edit_outside(tmp_path, lambda text: text.replace("port 80", "port 81"))
        await book.sync()
        new = (await book.store.entries("active"))[-1]
        assert (new.content, new.supersedes, file_of(tmp_path)) == ("port 81", 1, "port 81\n§\nhost atlas\n")


async def test_the_order_of_the_file_stays_the_persons(tmp_path):
    async with notebook(tmp_path) as book:
        await add(book, "one", "two", "three")
        edit_outside(tmp_path, lambda text: "three\n§\none\n§\ntwo\n")
        await add(book, "four")
        assert split(file_of(tmp_path)) == ("three", "one", "two", "four")


async def test_an_edit_beyond_the_limit_stays_in_the_file(tmp_path):
    edit_outside(tmp_path, lambda text: "x" * 500)
    async with notebook(tmp_path) as book:
        await book.sync()
        assert (await contents(book), file_of(tmp_path)) == (["x" * 500], "x" * 500)


async def test_a_file_that_was_lost_is_written_anew(tmp_path):
    async with notebook(tmp_path) as book:
        await add(book, "one")
        (tmp_path / "memories" / "MEMORY.md").unlink()
        await book.sync()
        assert file_of(tmp_path) == "one\n"


async def test_an_error_inside_a_change_keeps_nothing(tmp_path):
    async with notebook(tmp_path) as book:
        await add(book, "one")
        with pytest.raises(RuntimeError):
            async with book.change("tool") as draft:
                draft.entries.add("memory", "two", TOOL)
                raise RuntimeError
        assert (await contents(book), file_of(tmp_path)) == (["one"], "one\n")


class DiesAfterCommit(Notebook):
    """A process that is killed when the store has committed and before the file has taken its place."""

    async def change_and_die(self, content: str) -> None:
        def die(target: str) -> None:
            raise StoreError("killed")

        self.files.settle = die  # type: ignore[method-assign]
        with pytest.raises(StoreError):
            await add(self, content)


async def test_a_process_killed_before_the_file_was_replaced_loses_nothing(tmp_path):
    async with notebook(tmp_path) as book:
        await add(book, "one")
        await DiesAfterCommit(book.store, tmp_path / "memories", book.limits).change_and_die("two")
        assert file_of(tmp_path) == "one\n"
        await add(book, "three")
        assert split(file_of(tmp_path)) == ("one", "two", "three")


async def test_an_edit_made_after_such_a_kill_is_taken_in_and_what_was_kept_stays(tmp_path):
    async with notebook(tmp_path) as book:
        await add(book, "one", "old")
        await DiesAfterCommit(book.store, tmp_path / "memories", book.limits).change_and_die("two")
        edit_outside(tmp_path, lambda text: "one\n§\nby hand\n")
        await book.sync()
        assert sorted(split(file_of(tmp_path))) == ["by hand", "one", "two"]
        assert sorted(await contents(book)) == ["by hand", "one", "two"]


async def test_a_text_laid_down_by_a_process_that_never_committed_is_dropped(tmp_path):
    async with notebook(tmp_path) as book:
        await add(book, "one")
        await book.files.lay("memory", "never\n")
        await add(book, "two")
        assert (split(file_of(tmp_path)), await contents(book)) == (("one", "two"), ["one", "two"])


async def test_a_file_that_is_a_link_stays_one(tmp_path):
    real = tmp_path / "dotfiles" / "memory.md"
    real.parent.mkdir()
    real.write_text("linked\n")
    (tmp_path / "memories").mkdir()
    (tmp_path / "memories" / "MEMORY.md").symlink_to(real)
    async with notebook(tmp_path) as book:
        await add(book, "mine")
    assert real.read_text() == "linked\n§\nmine\n"
    assert (tmp_path / "memories" / "MEMORY.md").is_symlink()


def test_usefulness_counts_sightings_outcomes_and_age():
    row = Memory(id=1, target="memory", content="x", updated=0.0, sightings=3, helped=2, hurt=1)
    assert usefulness(row, now=60 * 86_400.0) == 3 + 2 * (2 - 1) - 60 / 30


async def test_undoing_goes_back_change_by_change(tmp_path):
    async with notebook(tmp_path) as book:
        await add(book, "one", "two")
        assert await book.undo() == 2
        assert file_of(tmp_path) == "one\n"
        assert await book.undo() == 1
        assert (file_of(tmp_path), await book.undo()) == ("", 0)
        assert [change.verb for change in await book.store.changes()] == ["retire", "retire", "add", "add"]


async def test_undoing_brings_back_what_was_superseded_and_archived(tmp_path):
    async with notebook(tmp_path, limits={"memory": 21, "user": 20}) as book:
        await add(book, "aaaaaaaaa", "bbbbbbbbb", "ccccccccc")
        assert await contents(book) == ["bbbbbbbbb", "ccccccccc"]
        await book.undo()
        assert await contents(book) == ["aaaaaaaaa", "bbbbbbbbb"]


async def adding(folder: Path, processes: int, each: int) -> None:
    """Processes that add side by side, with an edit from outside in between."""
    (folder / "memories").mkdir()
    started = [
        await asyncio.create_subprocess_exec(
            sys.executable, str(CHILD), str(folder), str(n), str(each), stdout=asyncio.subprocess.DEVNULL
        )
        for n in range(processes)
    ]
    path = folder / "memories" / "MEMORY.md"
    async with SqliteStore(folder / "state.db") as store:
        while len(await store.memories.entries()) < processes * each // 2:
            await asyncio.sleep(0.05)
    async with notebook(folder, limits={"memory": 2200, "user": 1375}) as book:
        async with book.files.locked():  # an editor that is quicker than the next process
            path.write_text(path.read_text() + "§\nby hand\n")
    assert [await child.wait() for child in started] == [0] * processes
    async with notebook(folder, limits={"memory": 2200, "user": 1375}) as book:
        await book.sync()  # in case that all were done before the edit
        rows = await book.store.entries()
        assert sorted(row.content for row in rows) == sorted(
            ["by hand", *(f"fact {i} of {n}" for n in range(processes) for i in range(each))]
        )
        assert {row.state for row in rows} <= {"active", "archived"}
        assert split(file_of(folder)) == tuple(await contents(book))
        assert len(file_of(folder)) <= 2201


async def test_processes_that_add_side_by_side_lose_nothing(tmp_path):
    await adding(tmp_path, 4, 15)


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_sixteen_processes_with_200_adds_each_lose_nothing(tmp_path):
    await adding(tmp_path, 16, 200)


async def killing(folder: Path, kills: int) -> None:
    """Processes that add, each killed at some moment; what they said was kept is there, and file and rows agree."""
    (folder / "memories").mkdir()
    chance = random.Random(7)
    kept: list[str] = []
    for number in range(kills):
        child = await asyncio.create_subprocess_exec(
            sys.executable, str(CHILD), str(folder), str(number), "1000", stdout=asyncio.subprocess.PIPE
        )
        assert child.stdout is not None
        await child.stdout.readline()
        await asyncio.sleep(chance.uniform(0.0, 0.15))
        child.kill()
        acknowledged = len((await child.stdout.read()).splitlines()) + 1
        await child.wait()
        kept += [f"fact {i} of {number}" for i in range(acknowledged)]
        async with notebook(folder, limits={"memory": 2200, "user": 1375}) as book:
            await book.sync()
            there = [row.content for row in await book.store.entries()]
            assert set(kept) <= set(there) and len(there) == len(set(there))
            assert sorted(split(file_of(folder))) == sorted(await contents(book))


async def test_a_kill_at_any_moment_loses_nothing_that_was_kept(tmp_path):
    await killing(tmp_path, 4)


@pytest.mark.soak
@pytest.mark.timeout(900)
async def test_two_hundred_kills_lose_nothing_that_was_kept(tmp_path):
    await killing(tmp_path, 200)


async def test_time_is_the_notebooks_own(tmp_path):
    clock = Clock(5.0)
    async with notebook(tmp_path, clock) as book:
        await add(book, "one")
        [row] = await book.store.entries()
        assert (row.created, row.updated) == (5.0, 5.0)
