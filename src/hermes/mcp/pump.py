"""Carries messages between a server's pipes and the streams of the SDK's session, in both directions and in order."""

import asyncio
import logging
from collections.abc import Coroutine
from typing import TYPE_CHECKING

from hermes.mcp import pipes
from hermes.mcp.leader import Leader
from hermes.mcp.lines import Lines, Overlong
from hermes.mcp.replies import answered, failure, parse
from hermes.mcp.stderr import ErrorOutput

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams
    from mcp_types import JSONRPCMessage

log = logging.getLogger(__name__)

CAP = 16 << 20
# Enough that the SDK's notices of cancellation, for which it waits up to 5 s, never wait behind a pipe that is full.
QUEUE = 256
FLUSH = 0.5
LAST_WORDS = 0.1
GRACE = 2.0


class Pump:
    """Works from its making until `close`. A server that lives but closed one of its pipes is killed: it cannot answer."""

    def __init__(self, leader: Leader, errors: ErrorOutput) -> None:
        import anyio
        from mcp.shared.message import SessionMessage

        self._leader = leader
        self._errors = errors
        self._unheard = False
        self._stdin, self._stdout, self._stderr = leader.pipes
        self._outlet = pipes.Outlet(self._stdin.fileno())
        self._inlet, self._complaints = pipes.Inlet(self._stdout.fileno()), pipes.Inlet(self._stderr.fileno())
        self._to_session, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, self._from_session = anyio.create_memory_object_stream[SessionMessage](QUEUE)
        self._read, self._write = read, write
        self._reading = self._start(self._read_messages())
        self._writing = self._start(self._write_messages())
        self._listening = self._start(self._read_errors())
        self._ending = self._start(self._end_after_leader())

    @property
    def streams(self) -> "TransportStreams":
        return self._read, self._write

    def blocked_for(self) -> float:
        return self._outlet.blocked_for()

    async def finish(self) -> None:
        """Take no more, write what was taken if that goes quickly, and close the server's input."""
        self._unheard = True
        self._read.close()
        self._write.close()
        await asyncio.wait([self._writing], timeout=FLUSH)
        self._writing.cancel()
        await asyncio.wait([self._writing])
        self._stdin.close()

    async def close(self) -> None:
        """Read what the ended server left in its pipes, and come to rest."""
        await asyncio.wait([self._reading, self._listening], timeout=LAST_WORDS)
        tasks = [self._reading, self._writing, self._listening, self._ending]
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        self._unwatch()

    def drop(self) -> None:
        """Let go of everything at once."""
        for task in (self._reading, self._writing, self._listening, self._ending):
            task.cancel()
        for stream in (self._read, self._write, self._to_session, self._from_session):
            stream.close()
        self._unwatch()
        for pipe in (self._stdin, self._stdout, self._stderr):
            pipe.close()

    def _unwatch(self) -> None:
        self._inlet.close()
        self._complaints.close()

    def _start(self, work: Coroutine[None, None, None]) -> "asyncio.Task[None]":
        task = asyncio.create_task(work)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[None]") -> None:
        if not task.cancelled() and (error := task.exception()):
            log.error("a pipe of process %d failed", self._leader.pid, exc_info=error)
            self._leader.kill()

    async def _read_messages(self) -> None:
        lines = Lines(CAP)
        while block := await self._inlet.read():
            # Reading goes on unheard: a server that is stuck in writing would not see that its input has ended.
            for line in () if self._unheard else lines.feed(block):
                if message := self._understand(line):
                    await self._deliver(message)
        self._to_session.close()
        await self._expect_end("closed its output")

    def _understand(self, line: bytes | Overlong) -> "JSONRPCMessage | None":
        """The message to hand on for a line; None for a banner, a blank, or anything that nobody waits for."""
        if isinstance(line, Overlong):
            text, fault = f"an answer of {line.size >> 20} MB is longer than {CAP >> 20} MB", "oversize"
        elif not line.strip():
            return None
        else:
            try:
                return parse(line)
            except ValueError:
                text, fault = "an answer was no JSON-RPC", "garbage"
        request = answered(line)
        if request is not None:
            self._errors.note(f"{text}; request {request} fails")
            return failure(request, text, fault)
        head = line.head if isinstance(line, Overlong) else line[:200]
        self._errors.note(f"dropped a line that is no message: {head.decode(errors='replace').strip()}")
        return None

    async def _deliver(self, message: "JSONRPCMessage") -> None:
        from anyio import BrokenResourceError, ClosedResourceError
        from mcp.shared.message import SessionMessage

        try:
            await self._to_session.send(SessionMessage(message))
        except (BrokenResourceError, ClosedResourceError):
            self._unheard = True

    async def _write_messages(self) -> None:
        try:
            async for item in self._from_session:
                try:
                    data = item.message.model_dump_json(by_alias=True, exclude_unset=True).encode()
                except ValueError as error:  # half a surrogate pair, which no JSON text can hold
                    await self._refuse(item.message, str(error))
                else:
                    await self._outlet.write(data + b"\n")
        except OSError:
            self._from_session.close()
            await self._expect_end("closed its input")

    async def _refuse(self, message: "JSONRPCMessage", reason: str) -> None:
        from mcp_types import JSONRPCRequest

        self._errors.note(f"a message could not be sent: {reason}")
        if isinstance(message, JSONRPCRequest):
            await self._deliver(failure(message.id, f"not sent: {reason}", "garbage"))

    async def _read_errors(self) -> None:
        while block := await self._complaints.read():
            self._errors.feed(block)
        self._errors.close()

    async def _expect_end(self, what: str) -> None:
        if not await self._leader.ended_within(GRACE):
            self._errors.note(f"the server {what} and runs on; it is ended")
            self._leader.kill()

    async def _end_after_leader(self) -> None:
        """Close the session's stream soon after the leader died, whoever else still holds the pipe."""
        await self._leader.exited.wait()
        await asyncio.wait([self._reading], timeout=LAST_WORDS)
        self._to_session.close()
