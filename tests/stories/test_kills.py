"""kill -9 of the real command at random moments of a story: what it had printed is on disk, and its session goes on."""

import asyncio
from pathlib import Path
from random import Random

import pytest

from hermes.protocol.events import Event, TurnEnded
from hermes.protocol.items import ToolCall
from hermes.store.sqlite import SqliteStore
from tests.services.model_server import ModelServer
from tests.services.request import Request
from tests.services.script import Call, Reply, call
from tests.stories.stage import DIALECTS, Home, ended, events_of, eventually, is_sound, items_in, tell, words_in

KILLS, SOAK_KILLS = 25, 250
AT_ONCE = 2
STEPS = {
    0: Reply("Two files.", calls=tuple(Call("write_file", {"path": f"{n}.txt", "content": f"{n}\n"}) for n in "ab")),
    2: call("terminal", command="echo one >> effects"),
    3: Reply(
        "Look.", calls=(Call("read_file", {"path": "a.txt"}), Call("terminal", {"command": "echo two >> effects"}))
    ),
    5: call("terminal", command="sleep 0.03; echo three >> effects"),
    6: Reply("All of it is done."),
}
"""What the model says, by the number of results that it has seen."""


def answer(request: Request) -> Reply:
    return Reply("fine") if request.user_text.endswith("next") else STEPS[len(request.results)]


async def killed(home: Home, server: ModelServer, chance: Random) -> list[Event]:
    """Run the story until a random moment, and give the events that it had printed by then."""
    printed = home.work.parent / "printed"
    with printed.open("w") as out:
        process = home.start("--yolo", "--json", "-z", "go", stdout=out)
    if chance.random() < 0.2:
        await asyncio.sleep(chance.uniform(0, 0.5))
    else:
        step = chance.randint(1, len(STEPS))
        await eventually(lambda: len(server.requests) >= step or process.poll() is not None)
        await asyncio.sleep(chance.uniform(0, 0.1))
    process.kill()
    await ended(process)
    return events_of(printed.read_text())


async def check(home: Home, printed: list[Event]) -> None:
    """The store is sound and has all that was printed; the session goes on, and nothing has run twice or unseen."""
    told = [event for event in printed if event.seq is not None]
    if not home.database.exists():
        assert told == []
        return
    assert is_sound(home.database)
    async with SqliteStore(home.database) as store:
        rows = await store.sessions()
        if not rows:
            assert told == []
            return
        kept = {event.seq: event for event in await store.events(rows[0].id)}
        assert [kept.get(event.seq) for event in told] == told
    for written in items_in([event.body for event in told], ToolCall):
        assert all((home.work / change.path).exists() for change in written.files)
    async with tell(home, resume=rows[0].id) as story:
        assert await story.say("next") == TurnEnded("done")
        assert (story.answers()[-1], words_in(story.bodies)[-1]) == ("fine", "next")
        effects = (home.work / "effects").read_text().split() if (home.work / "effects").exists() else []
        assert len(effects) == len(set(effects))
        known = "".join(item.args for item in story.calls() if item.status in ("done", "unknown"))
        assert all(effect in known for effect in effects)


async def kill_once(folder: Path, seed: int) -> None:
    folder.mkdir()
    home = Home(folder)
    async with ModelServer(answer) as server:
        home.use(server.base_url, DIALECTS[seed % 3], approvals={"mode": "off"})
        await check(home, await killed(home, server, Random(seed)))
    assert server.violations == []


async def kill_many(folder: Path, seeds: range) -> None:
    turn = asyncio.Semaphore(AT_ONCE)

    async def one(seed: int) -> None:
        async with turn:
            await kill_once(folder / str(seed), seed)

    async with asyncio.TaskGroup() as kills:
        for seed in seeds:
            kills.create_task(one(seed))


async def test_kill_9_at_random_moments_loses_nothing_that_was_printed(tmp_path):
    await kill_many(tmp_path, range(KILLS))


@pytest.mark.soak
async def test_kill_9_at_many_random_moments_loses_nothing_that_was_printed(tmp_path):
    await kill_many(tmp_path, range(1000, 1000 + SOAK_KILLS))


@pytest.mark.parametrize("dialect", DIALECTS)
async def test_the_story_itself_is_what_it_should_be(home: Home, dialect):
    async with ModelServer(answer) as server:
        home.use(server.base_url, dialect)
        ran = await ended(home.start("--yolo", "-z", "go"))
        assert (ran.code, ran.out, ran.err) == (0, "All of it is done.\n", "")
        assert (home.work / "effects").read_text() == "one\ntwo\nthree\n"
        assert [(home.work / name).read_text() for name in ("a.txt", "b.txt")] == ["a\n", "b\n"]
    assert (server.violations, len(server.requests)) == ([], len(STEPS))
