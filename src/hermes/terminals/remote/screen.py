"""A program elsewhere that is reached by the web socket of a screen, as if it had pipes."""

import asyncio
import logging
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Protocol

from hermes.protocol.errors import TerminalError, UserError
from hermes.protocol.ids import new_id
from hermes.terminals.remote import pump
from hermes.terminals.remote.place import Take

if TYPE_CHECKING:
    from httpx2.websockets import AsyncWebSocketSession

log = logging.getLogger(__name__)

FAILED = 255
MESSAGE = 32_768


class Screen(Protocol):
    """A shell that waits for typing: `open` gives it these variables, and is a socket that carries its bytes."""

    def open(self, envs: dict[str, str]) -> "AbstractAsyncContextManager[AsyncWebSocketSession]": ...

    async def close(self) -> None: ...


class OnScreen:
    """A program on a screen; one that could not be started, or was lost, says why on its error output."""

    def __init__(self, screen: Screen, argv: Sequence[str], output: Take, errors: Take) -> None:
        self._screen = screen
        self._errors = errors
        self._mark = new_id()
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        self._writing = asyncio.Lock()
        self._closing: asyncio.Task[None] | None = None
        self._from_there = pump.Unpacked(self._mark, output, errors, self._lines.put_nowait)
        self.ended: asyncio.Future[int] = asyncio.ensure_future(self._follow(argv))
        self.ended.add_done_callback(lambda _: self._let_go())

    async def write(self, data: bytes) -> None:
        async with self._writing:
            for at in range(0, len(data), pump.LONGEST_INPUT):
                await self._send(pump.packed(data[at : at + pump.LONGEST_INPUT]))

    def close_input(self) -> None:
        self._lines.put_nowait(pump.NO_MORE)

    def abandon(self) -> None:
        self.ended.cancel()

    @property
    def is_gone(self) -> bool:
        """Whether nothing of it is left: neither the connection nor, if it was abandoned, the screen."""
        return self.ended.done() and (self._closing is None or self._closing.done())

    async def gone(self) -> None:
        await asyncio.wait([self.ended])
        if self._closing:
            await asyncio.wait([self._closing])

    async def _send(self, line: bytes) -> None:
        """Send input, and wait until the program took it."""
        self._from_there.taken.clear()
        self._lines.put_nowait(line)
        taken = asyncio.ensure_future(self._from_there.taken.wait())
        try:
            await asyncio.wait([taken, self.ended], return_when=asyncio.FIRST_COMPLETED)
        finally:
            taken.cancel()
        if self.ended.done():
            raise BrokenPipeError("the program takes no more input")

    async def _follow(self, argv: Sequence[str]) -> int:
        try:
            async with self._screen.open({pump.SCRIPT: pump.script(self._mark)}) as socket:
                await socket.send_bytes(pump.typed(argv))
                listening = asyncio.ensure_future(self._listen(socket))
                feeding = asyncio.ensure_future(self._feed(socket))
                try:
                    await listening
                finally:
                    for task in (listening, feeding):
                        task.cancel()
                    await asyncio.wait([listening, feeding])
        except (TerminalError, UserError) as error:
            self._errors(f"{error}\n".encode())
        return FAILED if self._from_there.code is None else self._from_there.code

    async def _listen(self, socket: "AsyncWebSocketSession") -> None:
        """Take what comes until the program has ended or the connection is closed."""
        from httpx2.websockets import HTTPXWSException
        from wsproto.events import BytesMessage

        try:
            while self._from_there.code is None:
                event = await socket.receive()
                if isinstance(event, BytesMessage):
                    self._from_there.feed(bytes(event.data))
        except HTTPXWSException as error:
            log.debug("the screen was closed: %s", error)

    async def _feed(self, socket: "AsyncWebSocketSession") -> None:
        """Send the lines that wait, one after another, once there is somebody to read them."""
        from httpx2.websockets import HTTPXWSException

        try:
            await self._from_there.begun.wait()
            while True:
                line = await self._lines.get()
                self._from_there.come.clear()
                for at in range(0, len(line), MESSAGE):
                    await socket.send_bytes(line[at : at + MESSAGE])
                if pump.is_input(line):
                    await self._from_there.come.wait()
        except HTTPXWSException as error:
            log.debug("input not sent: %s", error)

    def _let_go(self) -> None:
        """Close a screen whose program has not ended by itself."""
        if self._from_there.code is None:
            self._closing = asyncio.ensure_future(self._screen.close())
