"""A long session: how fast it is open again, and how much larger its database is than what was said.

The session is a real one with a scripted model: turns of ten items, a question of 120 characters, four times a thought
of 200 with a call whose result has 1,500, and an answer of 400.
"""

import asyncio
from collections.abc import Iterator
from pathlib import Path

import apsw
import msgspec

from bench.cost import Stopwatch, least
from bench.stage import Stage
from bench.table import Limit, Row
from hermes.agent.session import Session
from hermes.protocol.events import ItemDone
from hermes.protocol.items import Item, Reply, Thought, ToolCall, UserMessage, text_of
from hermes.protocol.tools import Result, ToolContext, said
from hermes.store.sqlite import SqliteStore
from tests.agent import stage as acting

ITEMS_IN_A_TURN = 10
WORDS = "the quick brown fox jumps over the lazy dog and goes on its way through the wood until it comes to a river, "


def measure(stage: Stage) -> Iterator[Row]:
    count, folder = stage.scale(5000, 100), stage.fresh("long")
    database = folder / "state.db"
    stage.say(f"talking through a session of {count:,} items")
    name = asyncio.run(_talk(folder, count // ITEMS_IN_A_TURN))
    text = asyncio.run(_text(database, name))
    size = database.stat().st_size
    ours, bare = stage.alternate(7, lambda: asyncio.run(_resume(database, name)), lambda: _read(database))
    yield Row(
        what=f"session of {count:,} items resumed, CPU",
        value=least(ours),
        unit="ms",
        floor=least(bare),
        beside="its rows read and their JSON decoded",
    )
    yield Row(
        what="database of that session",
        value=size / (1 << 20),
        unit="MB",
        floor=text / (1 << 20),
        beside="of text said",
        bar=Limit(ratio=2.2),
    )


def words(length: int) -> str:
    return (WORDS * (length // len(WORDS) + 1))[:length]


async def _talk(folder: Path, turns: int) -> str:
    """Hold the session and return its id."""

    async def look(ctx: ToolContext, args: acting.Args) -> Result:
        return said(words(1500))

    tool = acting.make_tool("look", look, effect=False)
    called = acting.thought(words(200)) + acting.call("look", f'{{"word":"{words(30)}"}}', index=1)
    steps = [called + acting.finish("tool_calls")] * 4 + [acting.answer(words(400))]
    async with acting.play(folder, acting.ScriptedModel(*steps * turns), tool) as play:
        for _ in range(turns):
            await play.say(words(120))
            play.events.clear()
        return play.session.id


async def _text(database: Path, name: str) -> int:
    """The bytes of what was said, thought, called and returned."""
    total, after = 0, 0
    async with SqliteStore(database) as store:
        while page := await store.events(name, after):
            total += sum(_said(event.body.item) for event in page if isinstance(event.body, ItemDone))
            after = page[-1].seq or 0
    return total


def _said(item: Item) -> int:
    match item:
        case UserMessage(parts=parts):
            return len(text_of(parts).encode())
        case Thought(text=text) | Reply(text=text):
            return len(text.encode())
        case ToolCall(args=args, result=result):
            return len(args.encode()) + len(text_of(result).encode())
        case _:
            return 0


async def _resume(database: Path, name: str) -> float:
    options = acting.options(acting.ScriptedModel())
    async with SqliteStore(database) as store:
        with Stopwatch() as watch:
            session = await Session.resume(store, options, name)
        await session.close()
    return watch.cpu


def _read(database: Path) -> float:
    connection = apsw.Connection(str(database))
    with Stopwatch() as watch:
        for (body,) in connection.execute("SELECT body FROM events"):
            msgspec.json.decode(str(body))
    connection.close()
    return watch.cpu
