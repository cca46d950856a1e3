"""kill -9 at every commit of a story, and at random moments: nothing that was acknowledged is lost, nothing runs twice."""

import asyncio
import random
import subprocess
import sys
from pathlib import Path

import pytest

from hermes.agent.session import Session
from hermes.protocol.events import ItemDone, TurnEnded
from hermes.protocol.items import Summary, ToolCall, UserMessage
from hermes.store.schema import integrity, open_database
from hermes.store.sqlite import SqliteStore
from tests.agent.crash_child import tools
from tests.agent.stage import Play, ScriptedModel, options
from tests.agent.test_promises import balanced

ROOT = Path(__file__).parents[2]
RANDOM_KILLS = 50
SOAK_KILLS = 500


def start(folder: Path, when: str, k: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "tests.agent.crash_child", str(folder), when, str(k)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def check(folder: Path, acknowledged: list[str]) -> None:
    """The store is whole, every acknowledged op has had or gets its turn, no effect happened twice."""
    if not (folder / "state.db").exists():
        assert acknowledged == []
        return
    connection, _ = open_database(folder / "state.db")
    integrity(connection)
    connection.close()
    asyncio.run(resume(folder, acknowledged))


async def resume(folder: Path, acknowledged: list[str]) -> None:
    model = ScriptedModel()
    async with SqliteStore(folder / "state.db") as store:
        rows = await store.sessions()
        if not rows:
            assert acknowledged == []
            return
        session = await Session.resume(store, options(model, *tools(folder)), rows[0].id)
        play = Play(session, store)
        assert await play.say("after") == TurnEnded("done")
        words = [i.parts[0].text for b in play.of(ItemDone) if isinstance(i := b.item, UserMessage)]  # type: ignore[union-attr]
        assert words[: len(acknowledged)] == acknowledged and words[-1] == "after"
        assert all(i.result for i in model.requests[-1].items if isinstance(i, ToolCall))
        assert balanced(play.bodies)
        assert await store.unfinished(session.id) == []
        effects = (folder / "effects").read_text().split() if (folder / "effects").exists() else []
        assert len(effects) == len(set(effects))
        told = {i.args for b in play.of(ItemDone) if isinstance(i := b.item, ToolCall) and i.name == "act"}
        assert {f'{{"word": "{effect}"}}' for effect in effects} <= told
        await play.close()


@pytest.mark.parametrize("when", ["before", "after"])
def test_kill_9_at_every_commit_loses_nothing(tmp_path, when):
    for k in range(1, 100):
        folder = tmp_path / str(k)
        folder.mkdir()
        output, _ = start(folder, when, k).communicate(timeout=60)
        acknowledged = output.split()
        if "end" in acknowledged:
            assert k > 12  # the story has more commits than that, or it was not the story
            return
        check(folder, acknowledged)
    pytest.fail("the story never came to its end")


async def summaries(folder: Path) -> list[str]:
    """How the story's view was shortened."""
    async with SqliteStore(folder / "state.db") as store:
        [row] = await store.sessions()
        bodies = [event.body for event in await store.events(row.id)]
        return [body.item.kind for body in bodies if isinstance(body, ItemDone) and isinstance(body.item, Summary)]


def kill_at_random(folder: Path, seed: int) -> None:
    process = start(folder, "never", 0)
    try:
        output, _ = process.communicate(timeout=random.Random(seed).uniform(0.15, 0.6))
    except subprocess.TimeoutExpired:
        process.kill()
        output, _ = process.communicate()
    check(folder, [word for word in output.split() if word != "end"])


def test_kill_9_at_random_moments_loses_nothing(tmp_path):
    for seed in range(RANDOM_KILLS):
        (tmp_path / str(seed)).mkdir()
        kill_at_random(tmp_path / str(seed), seed)


@pytest.mark.soak
@pytest.mark.timeout(3600)
def test_kill_9_at_many_random_moments_loses_nothing(tmp_path):
    for seed in range(SOAK_KILLS):
        (tmp_path / str(seed)).mkdir()
        kill_at_random(tmp_path / str(seed), 10_000 + seed)


def test_the_story_itself_is_what_it_should_be(tmp_path):
    output, _ = start(tmp_path, "never", 0).communicate(timeout=60)
    assert output.split() == ["one", "two", "end"]
    assert (tmp_path / "effects").read_text().split() == ["one-a", "one-b", "two-a", "two-b"]
    kinds = asyncio.run(summaries(tmp_path))
    assert kinds == ["mask", "leaf"]
