"""Connections for httpcore2 on asyncio's own transports. An answer comes in many small pieces, and each of them costs about half
of what it costs on the backend that httpcore2 has by default.

Importing this imports httpcore2, so it is imported where something is dialled.
"""

import asyncio
import select
import socket
import ssl
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from typing import Any

import httpcore2
import httpx2

LONGEST = 1 << 20
"""Bytes that are taken in ahead of whoever reads them."""
NEXT_ADDRESS = 0.25
"""Seconds until the next address of a host is tried beside the first."""


class DirectTransport(httpx2.AsyncHTTPTransport):
    """httpx2's transport, on these connections."""

    def __init__(
        self, *, verify: "ssl.SSLContext | bool", limits: httpx2.Limits, local_address: str | None = None
    ) -> None:
        super().__init__(verify=verify, trust_env=False, limits=limits, local_address=local_address)
        # httpcore2's pool takes the backend as an argument; httpx2, which makes the pool, does not pass one on.
        self._pool._network_backend = Sockets()  # pyright: ignore[reportAttributeAccessIssue]


class Sockets(httpcore2.AsyncNetworkBackend):
    """Dials hosts by name or address."""

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> "Connection":
        loop = asyncio.get_running_loop()
        async with _dialling(timeout):
            _, wire = await loop.create_connection(
                Wire,
                host,
                port,
                local_addr=(local_address, 0) if local_address else None,
                happy_eyeballs_delay=NEXT_ADDRESS,
            )
        return Connection(wire)

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)


class Connection(httpcore2.AsyncNetworkStream):
    """One connection, as httpcore2 uses it."""

    def __init__(self, wire: "Wire") -> None:
        self._wire = wire

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        wire = self._wire
        if not wire.received and not wire.ended:
            try:
                async with asyncio.timeout(timeout):
                    await wire.wait("reader")
            except TimeoutError as error:
                raise httpcore2.ReadTimeout from error
        if wire.received or wire.error is None:
            return wire.take(max_bytes)
        raise httpcore2.ReadError(str(wire.error)) from wire.error

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        wire = self._wire
        if buffer and not wire.ended:
            wire.transport.write(buffer)
            if wire.full:
                try:
                    async with asyncio.timeout(timeout):
                        await wire.wait("writer")
                except TimeoutError as error:
                    raise httpcore2.WriteTimeout from error
        if wire.ended:
            raise httpcore2.WriteError(str(wire.error or "the other side has closed the connection"))

    async def aclose(self) -> None:
        self._wire.transport.close()
        await asyncio.sleep(0)
        self._wire.transport.abort()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> "Connection":
        wire = self._wire
        try:
            async with _dialling(timeout):
                transport = await asyncio.get_running_loop().start_tls(
                    wire.transport, wire, ssl_context, server_hostname=server_hostname
                )
        except BaseException:
            wire.transport.abort()
            raise
        if transport is None:
            raise httpcore2.ConnectError("the other side closed the connection")
        wire.transport = transport
        return self

    def get_extra_info(self, info: str) -> Any:
        names = {"client_addr": "sockname", "server_addr": "peername"}
        if info == "is_readable":
            return self._wire.is_readable()
        return self._wire.transport.get_extra_info(names.get(info, info))


class Wire(asyncio.Protocol):
    """What asyncio tells about a connection: bytes that came, its end, and whether it can take more."""

    transport: asyncio.Transport

    def __init__(self) -> None:
        self.received = bytearray()
        self.ended = False
        self.error: Exception | None = None
        self.full = False
        self._held = False
        self._waiting: dict[str, asyncio.Future[None]] = {}

    async def wait(self, who: str) -> None:
        """Until there is something to read, or room to write, or the end."""
        waiter = self._waiting[who] = asyncio.get_running_loop().create_future()
        try:
            await waiter
        finally:
            del self._waiting[who]

    def take(self, most: int) -> bytes:
        taken = bytes(self.received[:most])
        del self.received[:most]
        if self._held and len(self.received) < LONGEST:
            self._held = False
            self.transport.resume_reading()
        return taken

    def is_readable(self) -> bool:
        """Whether something came, which on an idle connection is its end; what the loop has not seen yet counts too."""
        if self.received or self.ended:
            return True
        raw: socket.socket | None = self.transport.get_extra_info("socket")
        if raw is None or raw.fileno() < 0:
            return True
        poll = select.poll()
        poll.register(raw.fileno(), select.POLLIN)
        return bool(poll.poll(0))

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport

    def data_received(self, data: bytes) -> None:
        self.received += data
        if len(self.received) >= LONGEST and not self._held:
            self._held = True
            self.transport.pause_reading()
        self._wake("reader")

    def eof_received(self) -> None:
        self.ended = True
        self._wake("reader")

    def connection_lost(self, exc: Exception | None) -> None:
        self.ended, self.error = True, self.error or exc
        self._wake("reader")
        self._wake("writer")

    def pause_writing(self) -> None:
        self.full = True

    def resume_writing(self) -> None:
        self.full = False
        self._wake("writer")

    def _wake(self, who: str) -> None:
        waiter = self._waiting.get(who)
        if waiter is not None and not waiter.done():
            waiter.set_result(None)


@asynccontextmanager
async def _dialling(timeout: float | None) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(timeout):
            yield
    except TimeoutError as error:
        raise httpcore2.ConnectTimeout from error
    except (OSError, ssl.SSLError) as error:
        raise httpcore2.ConnectError(str(error)) from error
