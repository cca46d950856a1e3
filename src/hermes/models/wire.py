"""A connection on asyncio's own transports: bytes that came, its end, and whether it can take more."""

import asyncio
import select
import socket
import ssl

LONGEST = 1 << 20
"""Bytes that are taken in ahead of whoever reads them."""
AT_ONCE = 1 << 16
"""Bytes that are read at once. asyncio's own way to read makes room for four times as many anew each time."""
NEXT_ADDRESS = 0.25
"""Seconds until the next address of a host is tried beside the first."""


async def dial(host: str, port: int, *, tls: ssl.SSLContext | None = None, local_address: str | None = None) -> "Wire":
    """A connection to a host by name or address; OSError if there is none to be had."""
    dialling = asyncio.ensure_future(
        asyncio.get_running_loop().create_connection(
            Wire,
            host,
            port,
            ssl=tls,
            local_addr=(local_address, 0) if local_address else None,
            happy_eyeballs_delay=NEXT_ADDRESS,
        )
    )
    try:
        _, wire = await asyncio.shield(dialling)
    except asyncio.CancelledError:
        # Cancelled itself, asyncio would forget a socket that is just connected. So it is let come, and hung up.
        dialling.add_done_callback(_hang_up)
        raise
    return wire


def _hang_up(dialling: "asyncio.Future[tuple[asyncio.Transport, Wire]]") -> None:
    if not dialling.cancelled() and not dialling.exception():
        dialling.result()[0].abort()


class Wire(asyncio.BufferedProtocol):
    """Read by one, written by one."""

    _transport: asyncio.Transport

    def __init__(self) -> None:
        self.error: Exception | None = None
        self._arriving = bytearray(AT_ONCE)
        self._received = bytearray()
        self._ended = False
        self._lost = False
        self._full = False
        self._held = False
        self._waiting: dict[str, asyncio.Future[None]] = {}

    async def read(self) -> bytes:
        """What has come, as soon as something has; nothing at the end, of which `error` may say more."""
        if not self._received and not self._ended:
            await self._wait("reader")
        taken = bytes(self._received)
        self._received.clear()
        if self._held:
            self._held = False
            self._transport.resume_reading()
        return taken

    async def write(self, data: bytes) -> None:
        """Send, and wait where the other side is slow. A connection that has ended takes nothing, as `read` will show."""
        if not self._ended:
            self._transport.write(data)
            if self._full:
                await self._wait("writer")

    async def close(self) -> None:
        self._transport.close()
        await asyncio.sleep(0)
        # asyncio's own transport fails where the last bytes have gone out, and with them the connection, since it was closed.
        if not self._lost:
            self._transport.abort()

    def is_fresh(self) -> bool:
        """Whether nothing came: on an idle connection that would be its end. What the loop has not seen yet counts too."""
        if self._received or self._ended:
            return False
        raw: socket.socket | None = self._transport.get_extra_info("socket")
        if raw is None or raw.fileno() < 0:
            return False
        poll = select.poll()
        poll.register(raw.fileno(), select.POLLIN)
        return not poll.poll(0)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> bytearray:
        return self._arriving

    def buffer_updated(self, nbytes: int) -> None:
        self._received += memoryview(self._arriving)[:nbytes]
        if len(self._received) >= LONGEST and not self._held:
            self._held = True
            self._transport.pause_reading()
        self._wake("reader")

    def eof_received(self) -> None:
        self._ended = True
        self._wake("reader")

    def connection_lost(self, exc: Exception | None) -> None:
        self._ended = self._lost = True
        self.error = self.error or exc
        self._wake("reader")
        self._wake("writer")

    def pause_writing(self) -> None:
        self._full = True

    def resume_writing(self) -> None:
        self._full = False
        self._wake("writer")

    async def _wait(self, who: str) -> None:
        waiter = self._waiting[who] = asyncio.get_running_loop().create_future()
        try:
            await waiter
        finally:
            del self._waiting[who]

    def _wake(self, who: str) -> None:
        waiter = self._waiting.get(who)
        if waiter is not None and not waiter.done():
            waiter.set_result(None)
