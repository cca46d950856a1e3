"""The task that keeps a server connected: it ends when it is told to, and never because of what a server does."""

import asyncio
import importlib
import logging
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from hermes.config import McpServer
from hermes.mcp.clock import Clock, either
from hermes.mcp.contract import Authority, Catalog, Fault, State
from hermes.mcp.exchange import CallFailed
from hermes.mcp.upkeep import Duty, lost_by, next_duty
from hermes.protocol.errors import HermesError

if TYPE_CHECKING:
    from hermes.mcp.asking import Handlers
    from hermes.mcp.generation import Generation

log = logging.getLogger(__name__)
FIRST_TRIES, TRIES = 3, 5
SHORTEST, SHORT, LONGEST = 0.05, 0.5, 30.0
SELF_PROBE = 300.0
COALESCE = 0.1


class Supervisor:
    """Holds the current generation of a server and makes the next one when it is lost, stale or too old."""

    def __init__(
        self,
        name: str,
        settings: McpServer,
        *,
        environ: Mapping[str, str],
        authority: Authority | None,
        handlers: "Handlers | None",
        clock: Clock,
        jitter: Callable[[], float],
        connected: Callable[[], None],
        changed: Callable[[], None],
    ) -> None:
        self._name, self._settings, self._environ = name, settings, environ
        self._authority, self._handlers, self._clock, self._jitter = authority, handlers, clock, jitter
        self._connected, self._tell = connected, changed
        self._task: asyncio.Task[None] | None = None
        self._old: list[Generation] = []
        self._ending: set[asyncio.Task[None]] = set()
        self._wake, self._turn = asyncio.Event(), asyncio.Event()
        self._waiting = self._failures = 0
        self._forced = self._stale_list = False
        self._legacy = False
        self._born = 0.0
        self.current: Generation | None = None
        self.state: State = "connecting"
        self.catalog = Catalog()
        self.connects = 0
        self.last_fault: Fault | None = None
        self.refused_header = ""
        self.settled = asyncio.Event()

    @property
    def running(self) -> bool:
        return self._task is not None and not self._task.done()

    def start(self) -> None:
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name=f"mcp-{self._name}-supervisor")

    async def close(self) -> None:
        """End the task and every connection; who waits for one is told at once."""
        if self._task is not None and not self._task.done():
            self._task.cancel()
            await asyncio.wait([self._task])
        for generation in (self.current, *self._old):
            if generation is not None:
                self._retire(generation, drain=False)
        self.current = None
        self._become("closed")
        self.settled.set()
        if self._ending:
            await asyncio.wait(set(self._ending))

    # What callers ask of it

    async def reach(self, seconds: float) -> "Generation | None":
        """The current generation, waiting so long for one at most; the waiting itself hurries the next try."""
        until, failures = self._clock.monotonic() + seconds, self._failures
        self._waiting += 1
        if self.current is None:
            self._wake.set()
        try:
            while self.running and self.state != "needs_auth":
                if self.current is not None and not self.current.ended.is_set():
                    return self.current
                if self._failures > failures and self.last_fault and self.last_fault.lasting:
                    return None
                if (left := until - self._clock.monotonic()) <= 0:
                    return None
                await either(self._clock, left, self._turn)
            return None
        finally:
            self._waiting -= 1

    def invalidate(self, generation: "Generation", *, session_lost: bool = False) -> None:
        """Replace this generation; nothing happens unless it is the current one."""
        if session_lost:
            generation.forget_session()
        if generation is not self.current:
            return
        self.current = None
        self._become("connecting")
        self._wake.set()

    def reconnect(self) -> None:
        """Make a new connection now; the one there is serves until the new one does."""
        self._forced = True
        if self.current is None and self.state in ("parked", "needs_auth", "backoff"):
            self._become("connecting")
        self._wake.set()

    def relist(self) -> None:
        """The server says that what it offers has changed."""
        self._stale_list = True
        self._wake.set()

    # The task

    async def _run(self) -> None:
        while True:
            try:
                await self._keep(await self._establish())
            except Exception:  # whatever it was, the server must stay reconnectable
                log.exception("MCP server %s: its supervisor met an error that nobody foresaw", self._name)
                await self._clock.sleep(LONGEST)

    async def _establish(self) -> "Generation":
        """Try until there is a connection: with growing gaps, in haste while a call waits, from time to time when parked."""
        tries, refreshed = 0, False
        while True:
            old, self._forced = self.current, False
            try:
                generation = await self._open()
            except CallFailed as failed:
                fault = failed.fault or Fault(kind="rejected", text=str(failed))
                log.warning("MCP server %s: %s", self._name, fault.text)
                self.last_fault = fault
                self._failures += 1
                self.settled.set()
                if old is not None and old is self.current:
                    self._born = self._clock.monotonic()
                    return old
            else:
                self._publish(generation)
                return generation
            if fault.kind == "unauthorized":
                refreshed = not refreshed and await self._refreshed(fault)
                if not refreshed:
                    self._become("needs_auth")
                    await self._rest(SELF_PROBE, until_called=False)
                continue
            tries += not self._waiting
            tries = await self._wait_for_next(tries)

    async def _open(self) -> "Generation":
        if self.current is None:
            self._become("connecting")
        # The SDK takes 0.8 s to import, which would stand in the way of everything else here.
        module = await asyncio.to_thread(importlib.import_module, "hermes.mcp.generation")
        generation: Generation = module.Generation(
            self._name,
            self._settings,
            environ=self._environ,
            authority=self._authority,
            handlers=self._handlers,
            clock=self._clock,
            legacy=self._legacy,
            changed=self.relist,
        )
        try:
            await generation.open()
        except BaseException as error:
            if isinstance(error, CallFailed) and error.fault and error.fault.kind == "unauthorized":
                self.refused_header = generation.authorization
            self._legacy = self._legacy and isinstance(error, CallFailed) and bool(error.fault and not error.fault.sent)
            self._retire(generation, drain=False)
            raise
        return generation

    def _publish(self, generation: "Generation") -> None:
        if self.current is not None:
            self._old.append(self.current)
        self.current = generation
        self._retire_old()
        self._legacy, self._born = generation.legacy, self._clock.monotonic()
        self._stale_list = False
        self.catalog, self.last_fault = generation.catalog, None
        self.connects += 1
        self._connected()
        self._become("ready")
        self.settled.set()

    async def _refreshed(self, fault: Fault) -> bool:
        if self._authority is None:
            return False
        try:
            return await self._authority.refused(self.refused_header, fault.challenge)
        except (HermesError, OSError) as error:
            log.warning("MCP server %s: its token could not be refreshed: %s", self._name, error)
            return False

    async def _wait_for_next(self, tries: int) -> int:
        """The pause after a failed try; gives the tries that count from here on."""
        if self._waiting:
            self._become("backoff")
            await self._clock.sleep(SHORTEST + self._jitter() * (SHORT - SHORTEST))
            return tries
        limit = TRIES if self.connects else FIRST_TRIES
        if tries >= limit:
            self.catalog = Catalog()
            self._retire_old()
            self._become("parked")
            await self._rest(SELF_PROBE)
            return 0 if self._forced else limit - 1
        self._become("backoff")
        longest = min(LONGEST, 2.0**tries)
        await self._rest(SHORTEST + self._jitter() * (longest - SHORTEST))
        return tries

    async def _rest(self, seconds: float, *, until_called: bool = True) -> None:
        """Let time pass, unless a person wants a connection or, as a rule, a call does."""
        until = self._clock.monotonic() + seconds
        while not self._forced and not (until_called and self._waiting):
            self._wake.clear()
            if (left := until - self._clock.monotonic()) <= 0:
                return
            await either(self._clock, left, self._wake)

    # While connected

    async def _keep(self, generation: "Generation") -> None:
        """Watch over a connection until another one is needed."""
        watcher = asyncio.create_task(self._notice_end(generation))
        try:
            while self.current is generation and not generation.ended.is_set() and not self._forced:
                self._wake.clear()
                if self._stale_list:
                    await self._refresh(generation)
                    continue
                duty, at = next_duty(generation, self._settings, self._born)
                if (seconds := at - self._clock.monotonic()) > 0:
                    await either(self._clock, seconds, self._wake)
                elif not await self._attend(generation, duty):
                    break
        finally:
            watcher.cancel()
        if self.current is generation and generation.ended.is_set():
            self.current = None
        if self.current is not generation:
            self._old.append(generation)
        if generation.ended.is_set():
            self._retire_old()

    async def _notice_end(self, generation: "Generation") -> None:
        await generation.ended.wait()
        if self.current is generation:
            self.current = None
            self._become("connecting")
        self._wake.set()

    async def _attend(self, generation: "Generation", duty: Duty) -> bool:
        """Do what is due; False if another connection is needed."""
        match duty:
            case "renew":
                return False
            case "sleep":
                self.current = None
                await self._until_called(generation)
                return False
            case "ping":
                generation.last_used = self._clock.monotonic()
                return await self._lives(generation, asyncio.create_task(generation.ping()))

    async def _until_called(self, generation: "Generation") -> None:
        """Stop a process that nobody uses; the tools stay, and the next call starts it."""
        self._retire(generation, drain=True)
        while not self._forced and not self._waiting:
            self._wake.clear()
            await self._wake.wait()

    async def check(self, generation: "Generation") -> bool:
        """Whether the server still answers at all; if not, its connection is replaced."""
        return await self._lives(generation, asyncio.create_task(generation.probe()))

    async def _lives(self, generation: "Generation", work: "asyncio.Task[Any]") -> bool:
        fault = await lost_by(work, self._clock)
        if fault is None:
            return True
        if fault.kind == "silent" and generation.process:
            generation.process.kill()
        self.invalidate(generation, session_lost=fault.kind == "expired")
        return False

    async def _refresh(self, generation: "Generation") -> None:
        """Read the catalog again, once for a storm of notices."""
        await self._clock.sleep(COALESCE)
        self._stale_list = False
        work = asyncio.create_task(generation.refresh())
        if await self._lives(generation, work) and work.exception() is None and work.result() != self.catalog:
            self.catalog = work.result()
            self._tell()

    # Small things

    def _become(self, state: State) -> None:
        changed, self.state = state != self.state, state
        turn, self._turn = self._turn, asyncio.Event()
        turn.set()
        if changed or state == "ready":
            self._tell()

    def _retire_old(self) -> None:
        """Let go of those that were replaced: only now, so that their calls had every chance to end."""
        old, self._old = self._old, []
        for generation in old:
            self._retire(generation, drain=True)

    def _retire(self, generation: "Generation", *, drain: bool) -> None:
        task = asyncio.create_task(generation.drain() if drain else generation.close())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
