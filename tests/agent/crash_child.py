"""A process that plays a story and is killed -9 at a named point of it: just before or just after its k-th commit.

python -m tests.agent.crash_child FOLDER before|after K prints each receipt that it was given, and "end" if it lived.
"""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from hermes.agent.aside import Aside
from hermes.agent.session import Session
from hermes.protocol.events import TurnEnded, Usage
from hermes.protocol.items import Text
from hermes.protocol.models import Tokens
from hermes.protocol.ops import Say
from hermes.protocol.tools import Result, ToolContext, said
from hermes.store.sqlite import SqliteStore
from tests.agent.stage import Args, Play, ScriptedModel, call, finish, make_tool, options, text

WORDS = ("one", "two")


def script() -> ScriptedModel:
    """Two turns, each with an effect and a long read in one step, and another effect in the next; between them the window
    is so full that the first turn is condensed."""
    steps: list[Any] = []
    for word in WORDS:
        steps += [
            text("I will") + call("act", f'{{"word": "{word}-a"}}', 1) + call("look", "{}", 2) + finish("calls"),
            call("act", f'{{"word": "{word}-b"}}') + finish("calls"),
            text(f"did {word}") + finish("stop", Tokens(input=2_500, output=5)),
        ]
    model = ScriptedModel(*steps)
    model.window = 3_000
    return model


async def summarise(source: str, how: str) -> Aside:
    return Aside("Done: looked.", False, Usage(0, "scripted", 100, 10, purpose="compaction"))


def tools(folder: Path):
    async def act(ctx: ToolContext, args: Args) -> Result:
        with (folder / "effects").open("a") as file:
            file.write(f"{args.word}\n")
        return said(f"did {args.word}")

    async def look(ctx: ToolContext, args: Args) -> Result:
        return said("looked " * 1_200)

    return make_tool("act", act), make_tool("look", look, effect=False)


class DyingStore(SqliteStore):
    """A store whose process is killed at its k-th commit."""

    def __init__(self, path: Path, when: str, k: int) -> None:
        super().__init__(path)
        self._when, self._left = when, k

    async def _die_at(self, write: Any) -> Any:
        self._left -= 1
        if self._left == 0 and self._when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = await write
        if self._left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    async def create(self, row: Any, batch: Any, owner: str) -> None:
        await self._die_at(super().create(row, batch, owner))

    async def append(self, session: str, owner: str, batch: Any) -> None:
        await self._die_at(super().append(session, owner, batch))

    async def put(self, session: str, op: Any) -> Any:
        return await self._die_at(super().put(session, op))


async def main(folder: Path, when: str, k: int) -> None:
    async with DyingStore(folder / "state.db", when, k) as store:
        session = await Session.create(store, options(script(), *tools(folder), summarise=summarise))
        play = Play(session, store)
        for n, word in enumerate(WORDS, 1):
            receipt = await session.send(Say(id=word, parts=(Text(word),)))
            print(receipt.op, flush=True)
            await play.until(lambda n=n: len(play.of(TurnEnded)) == n)
        await play.close()
    print("end", flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
