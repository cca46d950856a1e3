"""A terminal whose background processes are written down, so that those which outlive a crash are found again."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from hermes.protocol.terminals import BackgroundProcess, ProcessInfo, Ran, Terminal

Save = Callable[[ProcessInfo], Awaitable[None]]


class RememberedTerminal:
    """Another terminal, with `save` called when a background process starts and when it ends."""

    def __init__(self, inner: Terminal, save: Save) -> None:
        self._inner = inner
        self._save = save
        self._saving: set[asyncio.Task[None]] = set()

    @property
    def kind(self) -> str:
        return self._inner.kind

    @property
    def cwd(self) -> str:
        return self._inner.cwd

    @property
    def processes(self) -> Sequence[BackgroundProcess]:
        return self._inner.processes

    async def run(
        self,
        command: str,
        *,
        timeout: float,
        cwd: str | None = None,
        stdin: bytes = b"",
        on_output: Callable[[str], None] | None = None,
    ) -> Ran:
        return await self._inner.run(command, timeout=timeout, cwd=cwd, stdin=stdin, on_output=on_output)

    async def start(
        self,
        command: str,
        *,
        cwd: str | None = None,
        pty: bool = False,
        on_output: Callable[[str], None] | None = None,
        on_exit: Callable[[ProcessInfo], None] | None = None,
    ) -> BackgroundProcess:
        def ended(info: ProcessInfo) -> None:
            self._save_soon(info)
            if on_exit:
                on_exit(info)

        process = await self._inner.start(command, cwd=cwd, pty=pty, on_output=on_output, on_exit=ended)
        if process.info.state == "running":
            await self._save(process.info)
        return process

    async def close(self) -> None:
        await self._inner.close()
        await asyncio.gather(*self._saving)

    def _save_soon(self, info: ProcessInfo) -> None:
        task = asyncio.ensure_future(self._save(info))
        self._saving.add(task)
        task.add_done_callback(self._saving.discard)
