"""One operation on its way: the tries, waits and renewals until it has a result or an error."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NoReturn

from hermes.config import McpServer
from hermes.mcp.clock import Clock
from hermes.mcp.contract import (
    Authority,
    Caller,
    CallTool,
    Fault,
    NeedsLogin,
    Operation,
    OutcomeUnknown,
    ServerFailed,
    TimedOut,
)
from hermes.mcp.deadline import Deadline
from hermes.mcp.exchange import CallFailed, Exchange, wanting
from hermes.mcp.faults import is_only_said
from hermes.mcp.retry import may_repeat, next_step
from hermes.mcp.supervisor import Supervisor
from hermes.protocol.errors import HermesError

if TYPE_CHECKING:
    from hermes.mcp.generation import Generation

REACH, REFUSALS = 15.0, 10
STEP_UPS = 2
PAUSES, PAUSE = 5, 1.0
JITTER = 0.5
STUCK = 0.1


class Call:
    """Runs once. Afterwards `fault`, `code` and `silent` say what went wrong last, and `generation` where.

    Whatever is awaited runs as a task of its own, so that an interrupt or the deadline leaves it behind at once.
    """

    def __init__(
        self,
        name: str,
        settings: McpServer,
        operation: Operation,
        caller: Caller,
        deadline: Deadline,
        *,
        supervisor: Supervisor,
        authority: Authority | None,
        clock: Clock,
        jitter: Callable[[], float],
        aside: Callable[["asyncio.Task[Any]"], None],
    ) -> None:
        self._name, self._settings = name, settings
        self._operation, self._caller, self._deadline = operation, caller, deadline
        self._supervisor, self._authority = supervisor, authority
        self._clock, self._jitter, self._aside = clock, jitter, aside
        self._authorization = ""
        self._reach = REACH
        self._tried_again = False
        self._refusals = self._step_ups = self._pauses = 0
        self.fault: Fault | None = None
        self.code = 0
        self.generation: Generation | None = None
        self.silent = False

    async def run(self) -> Any:
        """The SDK's result, or ServerFailed."""
        while True:
            self.generation = generation = await self._connection()
            try:
                return await self._try(generation)
            except CallFailed as failed:
                self.fault, self.code = failed.fault, failed.code
                if failed.fault is None:
                    raise ServerFailed(self._name, f"MCP call failed: {failed}") from failed
                await self._after(failed.fault, generation)

    async def _connection(self) -> "Generation":
        """The current connection, or the next one if it comes in time."""
        supervisor = self._supervisor
        if supervisor.state == "needs_auth" and await self._has_new_login():
            supervisor.reconnect()
        began = self._clock.monotonic()
        generation = await supervisor.reach(min(self._reach, self._deadline.left()))
        if generation is not None:
            self._reach -= self._clock.monotonic() - began
            return generation
        last = supervisor.last_fault
        self.fault = last or Fault(kind="refused", text="it does not answer", sent=False)
        if supervisor.state == "needs_auth":
            self._wants_login()
        if not supervisor.running:
            raise ServerFailed(self._name, f"MCP call failed: the server {self._name} was closed")
        text = f"MCP call failed: {self._name} could not be reached: {self.fault.text}"
        raise ServerFailed(self._name, text)

    async def _try(self, generation: "Generation") -> Any:
        """Send it once and wait for the answer."""
        exchange = Exchange(self._caller, self._deadline)
        work = asyncio.create_task(generation.call(self._operation, exchange))
        if await self._finished(work):
            self._authorization = exchange.authorization
            return work.result()
        self.fault = Fault(kind="silent", text=f"no answer within {self._deadline.seconds:g} s")
        process = generation.process
        if process is None or process.blocked_for() < STUCK:
            self.silent = True
            raise TimedOut(self._name, f"MCP call failed: {self._name} gave {self.fault.text}")
        # Nothing can be written behind a request that is stuck in the pipe.
        process.kill()
        self._supervisor.invalidate(generation)
        if not self._repeatable:
            self._outcome_unknown("it does not read what is sent to it")
        raise TimedOut(
            self._name, f"MCP call failed: {self._name} does not read what is sent to it; it is started anew"
        )

    async def _finished(self, work: "asyncio.Task[Any]") -> bool:
        """Wait for a task of ours until the deadline; then, or on an interrupt, it is told to end and left behind."""
        self._aside(work)
        try:
            done = await self._deadline.allows(work)
        except asyncio.CancelledError:
            work.cancel()
            raise
        if not done:
            work.cancel()
        elif work.cancelled():
            raise CallFailed("the connection was closed", Fault(kind="cut", text="the connection was closed"))
        return done

    @property
    def _repeatable(self) -> bool:
        return may_repeat(self._operation, self._supervisor.catalog, self._settings)

    # What follows a fault

    async def _after(self, fault: Fault, generation: "Generation") -> None:
        """Get ready for the next try, or raise."""
        match next_step(fault, repeatable=self._repeatable, tried_again=self._tried_again):
            case "reach":
                self._refusals += 1
                self._supervisor.invalidate(generation)
                if self._refusals > REFUSALS:
                    self._give_up(fault)
            case "renew":
                self._renew(fault, generation)
            case "prove":
                if not await self._is_gone(generation):
                    self._give_up(fault)
                generation.forget_session()
                self._renew(fault, generation)
            case "send again":
                self._tried_again = True
                await self._clock.sleep(min(self._jitter() * JITTER, self._deadline.left()))
            case "wait":
                await self._wait(fault)
            case "log in":
                await self._log_in(fault, generation)
            case "widen":
                await self._widen(fault)
            case "unknown":
                if fault.kind == "cut":
                    self._supervisor.invalidate(generation)
                self._outcome_unknown(fault.text)
            case "give up":
                if fault.kind in ("cut", "expired") and not is_only_said(fault):
                    self._supervisor.invalidate(generation, session_lost=fault.kind == "expired")
                self._give_up(fault)

    def _renew(self, fault: Fault, generation: "Generation") -> None:
        self._tried_again = True
        session_lost = fault.kind == "expired" and not is_only_said(fault)
        self._supervisor.invalidate(generation, session_lost=session_lost)

    async def _is_gone(self, generation: "Generation") -> bool:
        """Whether the session rejects a harmless request too."""
        if generation.session_lost:
            return True
        work = asyncio.create_task(generation.probe())
        if not await self._finished(work):
            return False
        error = work.exception()
        return isinstance(error, CallFailed) and bool(error.fault) and error.fault.kind in ("expired", "rejected")

    async def _wait(self, fault: Fault) -> None:
        self._pauses += 1
        seconds = (PAUSE if fault.retry_after is None else fault.retry_after) + self._jitter() * JITTER
        if self._pauses > PAUSES or seconds >= self._deadline.left():
            self._give_up(fault)
        await self._clock.sleep(seconds)

    async def _log_in(self, fault: Fault, generation: "Generation") -> None:
        if self._authority is None:
            self._wants_login()
        work = asyncio.create_task(self._authority.refused(self._authorization, fault.challenge))
        finished = await self._finished(work)
        if finished and isinstance(error := work.exception(), ServerFailed):
            raise error  # the login server does not answer: a person could not log in either
        if not finished or work.exception() is not None or not work.result():
            self._supervisor.invalidate(generation)
            self._wants_login()
        self._tried_again = True
        self._supervisor.invalidate(generation)

    async def _widen(self, fault: Fault) -> None:
        self._step_ups += 1
        if self._authority is None or self._step_ups > STEP_UPS:
            self._give_up(fault)
        token = wanting.set(self._caller)
        with self._deadline.paused():
            try:
                widened = await self._authority.step_up(self._authorization, fault.challenge)
            except (HermesError, OSError):
                widened = False
            finally:
                wanting.reset(token)
        if not widened:
            self._wants_login()

    async def _has_new_login(self) -> bool:
        """Somebody may have logged in meanwhile, in this process or another one."""
        if self._authority is None:
            return False
        work = asyncio.create_task(self._authority.header())
        if not await self._finished(work) or work.exception() is not None:
            return False
        return work.result() not in ("", self._supervisor.refused_header)

    # How it ends without a result

    def _give_up(self, fault: Fault) -> NoReturn:
        if fault.kind == "unauthorized":
            self._wants_login()
        raise ServerFailed(self._name, f"MCP call failed: {fault.text}")

    def _wants_login(self) -> NoReturn:
        if self._settings.auth == "oauth" or self._authority is not None:
            mend = f"log in with: hermes mcp login {self._name}"
        else:
            mend = f"set a token in mcp_servers.{self._name}.headers, or: hermes mcp login {self._name}"
        raise NeedsLogin(self._name, f"MCP call failed: {self._name} does not accept who we are; {mend}")

    def _outcome_unknown(self, why: str) -> NoReturn:
        what = self._operation.name if isinstance(self._operation, CallTool) else "it"
        text = f"MCP call failed: outcome unknown: {why}; {what} may or may not have run, and was not run again"
        raise OutcomeUnknown(self._name, text)
