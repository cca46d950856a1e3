"""What the sandbox adds to a command, by the clock: the same terminal with it and without it, in turn."""

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import AsyncExitStack
from statistics import median

from bench.stage import Stage
from bench.table import Limit, Row
from hermes.safety.places import Places
from hermes.safety.sandbox.local import LocalSandbox, Wanted
from hermes.terminals.backends.local import LocalTerminal

COMMAND = "true"


def measure(stage: Stage) -> Iterator[Row]:
    kind, held, bare = asyncio.run(_measure(stage))
    yield Row(
        what=f"sandbox: extra ms per command ({kind})",
        value=held - bare,
        unit="ms",
        beside=f"{bare:.1f} ms without it, {held:.1f} ms in it, by the clock",
        bar=Limit(value=20),
    )


def sandbox(stage: Stage, work: str) -> LocalSandbox:
    """The one that a session of the bench has in this folder."""
    places = Places(home=os.path.realpath(stage.home), user_home=os.path.realpath(stage.folder))
    return LocalSandbox("bench", work, places, stage.env, wanted=Wanted())


async def _measure(stage: Stage) -> tuple[str, float, float]:
    work, env = os.path.realpath(stage.fresh("sandboxed")), dict(stage.env)
    box = sandbox(stage, work)
    async with AsyncExitStack() as closing:
        terminals = [LocalTerminal(work, env, sandbox=box), LocalTerminal(work, env)]
        taken: list[list[float]] = [[], []]
        for terminal in terminals:
            closing.push_async_callback(terminal.close)
            await terminal.run(COMMAND, timeout=30)
        for _ in range(stage.scale(60, 9)):
            for terminal, times in zip(terminals, taken, strict=True):
                began = time.perf_counter()
                await terminal.run(COMMAND, timeout=30)
                times.append((time.perf_counter() - began) * 1000)
    held, bare = map(median, taken)
    return box.kind, held, bare
