"""Tasks that work beside the sessions of a process."""

import asyncio
from collections.abc import Coroutine


class Alongside:
    """Holds each task until it has ended; `close` ends those that are left."""

    def __init__(self) -> None:
        self.tasks: set[asyncio.Task[None]] = set()

    def start(self, work: Coroutine[None, None, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)
        return task

    async def settle(self, seconds: float) -> None:
        """Wait for those that end by themselves, at most so long."""
        if self.tasks:
            await asyncio.wait(self.tasks, timeout=seconds)

    async def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)
