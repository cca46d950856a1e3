"""A configured MCP server as the rest of Hermes calls it: it answers, or says in one line why not."""

import asyncio
import logging
import random
from collections import deque
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from hermes.config import McpServer
from hermes.mcp.breaker import Breaker
from hermes.mcp.call import Call
from hermes.mcp.clock import Clock, SystemClock, either
from hermes.mcp.contract import Authority, Caller, Catalog, Operation, ServerFailed, Status, Unreachable
from hermes.mcp.deadline import Deadline
from hermes.mcp.faults import INVALID_PARAMS
from hermes.mcp.supervisor import Supervisor

if TYPE_CHECKING:
    from hermes.mcp.asking import Handlers
    from hermes.mcp.generation import Generation

log = logging.getLogger(__name__)
SILENT_IN_A_ROW = 2
MEASURED = 20
ANSWERED = ("rejected", "oversize")


class Server:
    """One entry of mcp_servers. Start it, call it from any task, close it; in between it reconnects by itself."""

    def __init__(
        self,
        name: str,
        settings: McpServer,
        *,
        environ: Mapping[str, str],
        handlers: "Handlers | None" = None,
        authority: Authority | None = None,
        redact: Callable[[str], str] = lambda text: text,
        clock: Clock | None = None,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        self.name, self.settings = name, settings
        self._authority, self._redact, self._jitter = authority, redact, jitter
        self._clock = clock or SystemClock()
        self._breaker = Breaker(self._clock)
        self._watchers: list[Callable[[Server], None]] = []
        self._background: set[asyncio.Task[Any]] = set()
        self._silent = self._calls = 0
        self._times: deque[float] = deque(maxlen=MEASURED)
        self._last_error = ""
        self._supervisor = Supervisor(
            name,
            settings,
            environ=environ,
            authority=authority,
            handlers=handlers,
            clock=self._clock,
            jitter=jitter,
            connected=self._breaker.success,
            changed=self._tell,
        )

    def start(self) -> None:
        """Connect in the background."""
        self._supervisor.start()

    async def settled(self, timeout: float) -> bool:
        """Wait, at most so long, until it is ready or its first try has failed; True if it is ready."""
        await either(self._clock, timeout, self._supervisor.settled)
        return self._supervisor.state == "ready"

    def reconnect(self) -> None:
        """Make a new connection in the background, also if it was given up."""
        self._supervisor.reconnect()

    async def close(self) -> None:
        await self._supervisor.close()
        for task in self._background:
            task.cancel()

    @property
    def catalog(self) -> Catalog:
        """What it offers now; empty while it is parked."""
        return self._supervisor.catalog

    def watch(self, callback: "Callable[[Server], None]") -> Callable[[], None]:
        """Have a function called after every change of state or catalog; gives one that ends this."""
        self._watchers.append(callback)
        return lambda: self._watchers.remove(callback)

    def _tell(self) -> None:
        for callback in tuple(self._watchers):
            try:
                callback(self)
            except Exception:  # one who watches must not stop the one who works
                log.exception("a watcher of MCP server %s failed", self.name)

    def status(self) -> Status:
        supervisor, generation, fault = self._supervisor, self._supervisor.current, self._supervisor.last_fault
        return Status(
            name=self.name,
            transport=transport_of(self.settings),
            state=supervisor.state,
            breaker=self._breaker.state,
            tools=len(supervisor.catalog.tools),
            failures=self._breaker.failures,
            cooldown=self._breaker.cooldown,
            restarts=max(0, supervisor.connects - 1),
            calls=self._calls,
            latency=sum(self._times) / len(self._times) if self._times else None,
            protocol=generation.protocol if generation else "",
            pid=generation.process.pid if generation and generation.process else None,
            last_error=self._redact(fault.text) if fault else self._last_error,
        )

    # A call

    async def request(self, op: Operation, caller: Caller, *, timeout: float | None = None) -> Any:
        """The SDK's result of an operation; ServerFailed says in one line why there is none."""
        if not self._supervisor.running:
            raise ServerFailed(self.name, f"MCP call failed: the server {self.name} is not running")
        self._enter()
        began = self._clock.monotonic()
        self._calls += 1
        call = self._call(op, caller, self.settings.timeout if timeout is None else timeout)
        try:
            result = await call.run()
        except ServerFailed as failed:
            self._count(call)
            raise self._masked(failed) from None
        except BaseException:  # an interrupt says nothing about the server
            self._breaker.let_go()
            raise
        self._breaker.success()
        self._silent = 0
        self._times.append(self._clock.monotonic() - began)
        return result

    def _call(self, op: Operation, caller: Caller, timeout: float) -> Call:
        return Call(
            self.name,
            self.settings,
            op,
            caller,
            Deadline(self._clock, timeout),
            supervisor=self._supervisor,
            authority=self._authority,
            clock=self._clock,
            jitter=self._jitter,
            aside=self._keep_aside,
        )

    def _enter(self) -> None:
        """Ask the breaker; Unreachable if no call may be made now."""
        match self._breaker.admit():
            case "refuse":
                seconds = self._breaker.cooldown
                when = f"it is tried again in {seconds:.0f} s" if seconds else "it is being tried just now"
                last = f" ({self._last_error})" if self._last_error else ""
                raise Unreachable(self.name, f"MCP server {self.name} is unreachable; {when}{last}")
            case "probe" if self._supervisor.current is None:
                self._breaker.failure()
                self._supervisor.reconnect()
                raise Unreachable(self.name, f"MCP server {self.name} is reconnecting; call again in a moment")
            case _:
                pass

    def _count(self, call: Call) -> None:
        """Tell the breaker of a failed call, once. A server that answers, if only to complain, is there."""
        present = self._supervisor.current
        answered = call.fault is None or call.fault.kind in ANSWERED
        if answered and (self._breaker.state == "closed" or call.fault is not None or call.code == INVALID_PARAMS):
            self._breaker.success()
        elif present is not None and call.generation is not None and call.generation is not present:
            self._breaker.let_go()  # it failed on a connection that is already replaced by a good one
        else:
            self._breaker.failure()
        if call.silent and call.generation is not None:
            self._silent += 1
            if self._silent == SILENT_IN_A_ROW:
                self._keep_aside(asyncio.create_task(self._check(call.generation)))

    def _masked(self, failed: ServerFailed) -> ServerFailed:
        """The error in one line, without secrets."""
        self._last_error = self._redact(" ".join(str(failed).split()))
        return type(failed)(self.name, self._last_error)

    def _keep_aside(self, work: "asyncio.Task[Any]") -> None:
        """Hold on to a task that may be left behind, and take note of its error so that nobody else must."""
        self._background.add(work)
        work.add_done_callback(self._forget)

    def _forget(self, work: "asyncio.Task[Any]") -> None:
        self._background.discard(work)
        if not work.cancelled():
            work.exception()

    async def _check(self, generation: "Generation") -> None:
        """Two calls in a row got no answer: is it the tools, or is nobody there?"""
        if await self._supervisor.check(generation) and self._breaker.state == "closed":
            self._breaker.success()
        self._silent = 0


def transport_of(settings: McpServer) -> Literal["stdio", "http", "sse"]:
    """How a server is spoken to; of a command and a URL, the URL counts."""
    if not settings.url:
        return "stdio"
    return "sse" if settings.transport == "sse" else "http"
