"""Several processes share one database: nothing is lost, and one can follow and steer what another does."""

import asyncio
import subprocess
import sys
from pathlib import Path

from hermes.protocol.events import SessionClosed, TurnEnded
from hermes.store.sqlite import SqliteStore
from tests.services.model_server import ModelServer
from tests.services.script import Fault, Reply, call
from tests.stories.stage import Home, ended, is_sound, stored, tell, words_in

ROOT = Path(__file__).parents[2]
PROCESSES, WRITES = 32, 200


def run(module: str, *args: object) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", f"tests.stories.{module}", *map(str, args)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


async def test_32_processes_of_200_writes_lose_nothing(tmp_path: Path):
    database = tmp_path / "state.db"
    ran = await ended(run("writers_child", database, PROCESSES, WRITES))
    assert (ran.code, ran.err) == (0, "")
    assert sorted(ran.out.splitlines()) == sorted(f"w{n} {WRITES}" for n in range(PROCESSES))
    async with SqliteStore(database) as store:
        for n in range(PROCESSES):
            told = [event.body.text for event in await store.events(f"w{n}")]  # type: ignore[union-attr]
            assert told == [f"w{n} {seq}" for seq in range(1, WRITES + 1)]
    assert is_sound(database)


async def test_two_commands_at_once_in_a_new_home_have_a_session_each(home: Home):
    async with ModelServer() as server:
        home.use(server.base_url)
        words = ["one", "two"]
        ran = await asyncio.gather(*[ended(home.start("-z", word)) for word in words])
        assert [(one.code, one.out, one.err) for one in ran] == [(0, "one\n", ""), (0, "two\n", "")]
        async with SqliteStore(home.database) as store:
            assert sorted(row.title for row in await store.sessions()) == words
    assert is_sound(home.database)
    assert server.violations == []


async def test_two_commands_at_once_write_in_one_folder_and_both_can_be_undone(home: Home):
    def answer(request):
        word = request.user_text
        return Reply(word) if request.results else call("write_file", path=f"{word}.txt", content=word)

    async with ModelServer(answer) as server:
        home.use(server.base_url)
        ran = await asyncio.gather(*[ended(home.start("-z", word)) for word in ("one", "two")])
        assert [(one.code, one.out, one.err) for one in ran] == [(0, "one\n", ""), (0, "two\n", "")]
        assert sorted(path.name for path in home.work.iterdir()) == ["one.txt", "two.txt"]
    assert server.violations == []


async def test_a_session_that_is_open_elsewhere_cannot_be_resumed(home: Home):
    async with ModelServer([Reply("mine", fault=Fault(delay=60))]) as server:
        home.use(server.base_url)
        process = home.start("-z", "go")
        await server.received(1)
        [row] = [event.session for event in (await stored(home))[:1]]
        second = await ended(home.start("--resume", row, "-z", "mine too"))
        assert (second.code, second.out, second.err.count("\n")) == (2, "", 1)
        assert second.err.startswith(f"hermes: session {row} is open in another process")
        process.terminate()
        await ended(process)
        assert len(server.requests) == 1


async def test_another_process_follows_a_session_and_speaks_in_it(home: Home):
    async with ModelServer() as server:
        home.use(server.base_url)
        async with tell(home) as story:
            assert await story.say("first") == TurnEnded("done")
            other = await ended(run("follower_child", home.database, story.session.id))
            assert (other.code, other.out, other.err) == (0, "done from elsewhere True False False\n", "")
            # It also told the session to close, through the store as well.
            await asyncio.wait_for(story.session.closed(), 10)
            assert story.answers() == words_in(story.bodies) == ["first", "from elsewhere"]
            assert story.of(SessionClosed) == [SessionClosed("told to")]
    assert server.violations == []
