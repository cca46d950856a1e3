"""A process that hangs in a tool with an effect: it prints its session's id once the tool runs and another message waits."""

import asyncio
import sys
from pathlib import Path

from hermes.agent.session import Session
from hermes.protocol.items import Text
from hermes.protocol.ops import Say
from hermes.store.sqlite import SqliteStore
from tests.agent.stage import Recording, ScriptedModel, call, finish, options


async def main(folder: Path) -> None:
    act, look = Recording(seconds=3600), Recording("look", effect=False)
    model = ScriptedModel(call("act", '{"word": "once"}') + call("look", "{}", 1) + finish("calls"))
    async with SqliteStore(folder / "state.db") as store:
        session = await Session.create(store, options(model, act.tool, look.tool))
        await session.send(Say(parts=(Text("go"),)))
        while not act.ran:
            await asyncio.sleep(0.01)
        await session.send(Say(parts=(Text("later"),)))
        print(session.id, flush=True)
        await session.closed()


asyncio.run(main(Path(sys.argv[1])))
