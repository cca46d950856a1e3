"""What one call learns about its own request below JSON-RPC, where the SDK shows nothing."""

import asyncio
from contextvars import ContextVar
from typing import Any

import msgspec

from hermes.mcp.contract import Caller, Fault
from hermes.mcp.deadline import Deadline


class Exchange:
    """One execution of one operation: who wants it, until when, and what the transport saw of it.

    The SDK carries a caller's context to the task that sends its request, so the transport finds this by `current`.
    """

    def __init__(self, caller: Caller | None = None, deadline: Deadline | None = None) -> None:
        self.caller, self.deadline = caller, deadline
        self.task: asyncio.Task[Any] | None = None
        self.fault: Fault | None = None
        self.sent = False
        self.had_session = False
        self.authorization = ""
        self._requests = 0
        self._answered = False

    def begin(self, *, had_session: bool, authorization: str) -> None:
        """A request of this call is about to be sent; there is more than one when the server asked something back."""
        self._answered = self._answered or (self._requests > 0 and self.fault is None)
        self._requests += 1
        self.fault = None
        self.sent = True
        self.had_session, self.authorization = had_session, authorization

    def fail(self, fault: Fault) -> None:
        """Note what went wrong. In a call behind a request that was answered, no fault proves that nothing ran."""
        if self.caller and self._answered and fault.kind != "rejected":
            fault = msgspec.structs.replace(fault, kind="cut", sent=True)
        self.fault = fault

    def abort(self) -> None:
        """End the call's wait for an answer that cannot come."""
        if self.task is not None:
            self.task.cancel()


current: ContextVar[Exchange | None] = ContextVar("exchange", default=None)
wanting: ContextVar[Caller | None] = ContextVar("wanting", default=None)
"""For whom an authority is asked for more scopes just now: the person who could consent."""


class CallFailed(Exception):
    """A request gave no result: through a fault of the connection, or, without one, by the server's own answer."""

    def __init__(self, text: str, fault: Fault | None = None, code: int = 0) -> None:
        super().__init__(text)
        self.fault, self.code = fault, code
