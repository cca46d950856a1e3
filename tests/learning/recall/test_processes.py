"""Several processes, one index: what one has said another finds, while both go on."""

import asyncio
import os
import sys
from pathlib import Path

from hermes.learning.recall.search import Search, Wanted
from hermes.store.sqlite import SqliteStore
from tests.learning.recall.corpus import make, store_talks
from tests.learning.recall.test_search import contents

TALKING, INDEXING = (Path(__file__).parent / f"{name}_child.py" for name in ("talking", "indexing"))


async def start(*command: object) -> asyncio.subprocess.Process:
    words = [str(word) for word in command]
    return await asyncio.create_subprocess_exec(
        sys.executable, *words, stdout=asyncio.subprocess.PIPE, env=dict(os.environ)
    )


async def talk(database: Path, name: str, count: int) -> asyncio.subprocess.Process:
    return await start(TALKING, database, name, count)


async def test_what_a_process_has_said_is_found_by_two_others_while_it_goes_on(tmp_path):
    database = tmp_path / "state.db"
    async with SqliteStore(database) as one, SqliteStore(database) as other:
        child = await talk(database, "s", 60)
        assert child.stdout is not None
        heard: list[str] = []
        while line := await child.stdout.readline():
            heard.append(line.decode().strip())
            if len(heard) % 5:
                continue
            for store in (one, other):
                search = Search(store.index)
                assert await search.catch_up()
                [match] = await search.find(Wanted(text=heard[-1]))
                assert (match.hit.session, match.best.seq) == ("s", len(heard))
        assert await child.wait() == 0 and len(heard) == 60


async def test_processes_that_talk_search_and_are_killed_leave_the_index_whole(tmp_path):
    database = tmp_path / "state.db"
    async with SqliteStore(database) as store:
        children = [await talk(database, f"s{number}", 1_000_000) for number in range(3)]
        search = Search(store.index)
        for child in children:
            assert child.stdout is not None
            for _ in range(20):
                await child.stdout.readline()
            await search.catch_up()
            child.kill()
            await child.wait()
        await search.catch_up()
        left = contents(database)
        await store.index.clear()
        await search.catch_up()
        assert contents(database) == left
        found = [match.hit.session for match in await search.find(Wanted(text="s0word1 s1word1 s2word1"))]
        assert sorted(found) == ["s0", "s1", "s2"]


async def test_processes_that_are_killed_while_they_index_leave_nothing_half_done(tmp_path):
    database = tmp_path / "state.db"
    talks, _ = make(sessions=120)
    async with SqliteStore(database) as store:
        await store_talks(store, talks)
        for number in range(4):
            child = await start(INDEXING, database)
            assert child.stdout is not None
            await child.stdout.readline()
            await asyncio.sleep(0.01 * number)
            child.kill()
            await child.wait()
        assert 0 < len(await store.index.behind()) < len(talks)
        await Search(store.index).catch_up()
        left = contents(database)
        await store.index.clear()
        await Search(store.index).catch_up()
        assert contents(database) == left
