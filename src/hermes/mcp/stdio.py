"""A server that is a process of ours and talks over its pipes: a transport for the SDK's client that leaves nothing behind.

The SDK's own does not tell when an idle server dies, hangs behind one that does not read, and lets the children of a
dead wrapper live. PR_SET_PDEATHSIG is not used: it fires when the thread that started the process ends, not when
Hermes does. If Hermes is killed its end of the pipe closes, and by the protocol a server then exits.
"""

import asyncio
import os
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import TYPE_CHECKING

from hermes.mcp.family import PATIENCE, VARIABLE, Family
from hermes.mcp.leader import Leader, start
from hermes.mcp.pump import GRACE, Pump
from hermes.mcp.stderr import ErrorOutput

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams


class StdioProcess:
    """One run of a server's command. Enter and leave it in one task; `exited` is set as soon as the process has ended."""

    def __init__(
        self,
        name: str,
        command: tuple[str, ...],
        *,
        env: Mapping[str, str],
        cwd: str,
        log: Callable[[str], None],
    ) -> None:
        self._name = name
        self._command = command
        self._mark = os.urandom(8).hex()
        self._env = {**env, VARIABLE: self._mark}
        self._cwd = cwd
        self._log = log
        self._errors = ErrorOutput(log)
        self._leader: Leader | None = None
        self._pump: Pump | None = None
        self._killed = False
        self.exited = asyncio.Event()

    @property
    def pid(self) -> int | None:
        """The process that was started; None before."""
        return self._leader.pid if self._leader else None

    @property
    def code(self) -> int | None:
        """How it ended, 128 + n if by signal n; None while it runs."""
        return self._leader.code if self._leader else None

    def stderr_tail(self) -> str:
        """The newest 16 KB of what it printed to its error output."""
        return self._errors.tail()

    def blocked_for(self) -> float:
        """For how many seconds it has read nothing of what waits to be written; 0.0 if nothing waits."""
        return self._pump.blocked_for() if self._pump else 0.0

    def kill(self) -> None:
        """End the whole process group now, without waiting for it."""
        self._killed = True
        if self._leader:
            self._leader.kill()

    async def __aenter__(self) -> "TransportStreams":
        self._leader = start(self._name, self._command, env=self._env, cwd=self._cwd, exited=self.exited)
        # No await between the start and the return: a caller cancelled there would leave the process behind.
        self._pump = Pump(self._leader, self._errors)
        return self._pump.streams

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close its input, wait 2 s, ask the family to end, wait 2 s, kill it; a cancellation waits for that."""
        from anyio import CancelScope

        assert self._leader and self._pump, "it was entered"
        ending = asyncio.create_task(self._end(self._leader, self._pump))
        with CancelScope(shield=True):
            await _settled(ending)

    async def _end(self, leader: Leader, pump: Pump) -> None:
        family = Family(leader.pid, self._mark)
        try:
            await pump.finish()
            if not self._killed:
                await leader.ended_within(GRACE)
            if left := await family.ended(0 if self._killed else GRACE):
                self._log(f"processes {left} could not be ended")
            await leader.ended_within(PATIENCE)
            await pump.close()
        except BaseException:  # the loop itself is ending and waits for nobody
            family.end(0)
            raise
        finally:
            pump.drop()
            leader.release()


async def _settled(work: "asyncio.Task[None]") -> None:
    """Wait for work that must not be stopped half-way: a cancellation waits for it, and then goes on."""
    cancelled: asyncio.CancelledError | None = None
    while not work.done():
        try:
            await asyncio.wait([work])
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
    work.result()
