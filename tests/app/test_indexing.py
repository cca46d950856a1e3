"""The index is brought up to date while nobody waits: when a session rests, and when it was closed."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from hermes.app.indexing import Indexing
from hermes.protocol.ops import Close
from tests.commands.surface import Person, person
from tests.services.model_server import ModelServer
from tests.services.script import Reply


@asynccontextmanager
async def followed(folder: Path, *, rest: float, settling: float) -> AsyncIterator[Person]:
    async with ModelServer([Reply("Dig it over in spring.")]) as server:
        async with person(folder, base_url=server.base_url) as me:
            indexing = Indexing(me.app, rest=rest, settling=settling)
            indexing.follow(me.session)
            await me.stage.say("how do I prepare the garden?")
            yield me
            await indexing.close()


async def behind(me: Person, wanted: list[str]) -> bool:
    """Whether the sessions that are not in the index become these."""
    async with asyncio.timeout(5):
        while list(await me.app.store.index.behind()) != wanted:
            await asyncio.sleep(0.01)
    return True


async def test_a_session_that_rests_is_indexed(tmp_path):
    async with followed(tmp_path, rest=0.01, settling=60) as me:
        assert await behind(me, [])


async def test_a_session_that_was_closed_is_indexed(tmp_path):
    async with followed(tmp_path, rest=60, settling=0.01) as me:
        assert list(await me.app.store.index.behind()) == [me.session.id]
        await me.session.send(Close(by="test"))
        assert await behind(me, [])


async def test_a_rest_that_began_before_it_was_closed_starts_nothing(tmp_path):
    async with ModelServer([Reply("Dig it over in spring.")]) as server:
        async with person(tmp_path, base_url=server.base_url) as me:
            indexing = Indexing(me.app, rest=0.05, settling=0.05)
            indexing.follow(me.session)
            await me.stage.say("how do I prepare the garden?")
            await indexing.close()
            await asyncio.sleep(0.15)
            assert list(await me.app.store.index.behind()) == [me.session.id]
