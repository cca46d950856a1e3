"""HTTP/1.1 for httpx2 without a proxy in between: h11 on a wire of ours, and wires that are used again.

httpx2's own transport has more (HTTP/2, proxies, trio), and to load it costs a sixth of a one-line answer.
Importing this imports httpx2, so it is imported where something is dialled.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, nullcontext
from typing import Any

import h11
import httpx2

from hermes.models.wire import Wire, dial

LONGEST_HEADERS = 100 << 10
PORTS = {"http": 80, "https": 443}

Origin = tuple[str, str, int]


class DirectTransport(httpx2.AsyncBaseTransport):
    """Connections by origin. One that was answered to the end is kept for `keep` seconds and used by the next request."""

    def __init__(self, *, tls: ssl.SSLContext | None, keep: float, local_address: str | None = None) -> None:
        self._tls = tls
        self._keep = keep
        self._local_address = local_address
        self._resting: dict[Origin, list[tuple[float, Connection]]] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        url, patience = request.url, request.extensions.get("timeout", {})
        if url.scheme not in PORTS:
            raise httpx2.UnsupportedProtocol(f"{url} is no http:// or https:// address")
        origin = (url.scheme, url.raw_host.decode(), url.port or PORTS[url.scheme])
        connection = await self._rested(origin) or await self._dialled(origin, patience)
        try:
            answer = await connection.ask(request, patience)
        except BaseException:
            await connection.close()
            raise
        return httpx2.Response(
            answer.status_code, headers=answer.headers.raw_items(), stream=Body(self, origin, connection, patience)
        )

    async def aclose(self) -> None:
        resting, self._resting = self._resting, {}
        for connections in resting.values():
            for _, connection in connections:
                await connection.close()

    async def rest(self, origin: Origin, connection: "Connection") -> None:
        """Take a connection back that is not needed at the moment."""
        if connection.is_done():
            self._resting.setdefault(origin, []).append((asyncio.get_running_loop().time(), connection))
        else:
            await connection.close()

    async def _rested(self, origin: Origin) -> "Connection | None":
        resting = self._resting.get(origin, [])
        while resting:
            since, connection = resting.pop()
            if asyncio.get_running_loop().time() - since < self._keep and connection.is_fresh():
                return connection
            await connection.close()
        return None

    async def _dialled(self, origin: Origin, patience: dict[str, Any]) -> "Connection":
        scheme, host, port = origin
        tls = self._tls if scheme == "https" else None
        try:
            async with _within(patience.get("connect")):
                return Connection(await dial(host, port, tls=tls, local_address=self._local_address))
        except TimeoutError as error:
            raise httpx2.ConnectTimeout("") from error
        except (OSError, UnicodeError) as error:
            raise httpx2.ConnectError(str(error)) from error


class Connection:
    """One connection: a request, its answer, and then the next."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=LONGEST_HEADERS)

    async def ask(self, request: httpx2.Request, patience: dict[str, Any]) -> h11.Response:
        """Send a request, and wait until its answer begins."""
        assert isinstance(request.stream, httpx2.AsyncByteStream)
        try:
            head = h11.Request(method=request.method, target=request.url.raw_path, headers=request.headers.raw)
            sent = [self._http.send(head)]
            sent += [self._http.send(h11.Data(piece)) async for piece in request.stream]
            sent.append(self._http.send(h11.EndOfMessage()))
        except h11.LocalProtocolError as error:
            raise httpx2.LocalProtocolError(str(error)) from error
        try:
            async with _within(patience.get("write")):
                await self._wire.write(b"".join(filter(None, sent)))
        except TimeoutError as error:
            raise httpx2.WriteTimeout("") from error
        while isinstance(answer := await self._event(patience), h11.InformationalResponse):
            continue
        if not isinstance(answer, h11.Response):
            raise httpx2.RemoteProtocolError("the other side wants to speak another protocol")
        return answer

    async def pieces(self, patience: dict[str, Any]) -> AsyncIterator[bytes]:
        """What the answer says, as it comes."""
        while isinstance(event := await self._event(patience), h11.Data):
            yield bytes(event.data)

    def is_done(self) -> bool:
        """Whether the next request may follow: all was sent, all was read, and neither side wants to close."""
        if not self._http.our_state == self._http.their_state == h11.DONE:
            return False
        self._http.start_next_cycle()
        return True

    def is_fresh(self) -> bool:
        return self._wire.is_fresh()

    async def close(self) -> None:
        await self._wire.close()

    async def _event(self, patience: dict[str, Any]) -> object:
        try:
            while (event := self._http.next_event()) is h11.NEED_DATA:
                self._http.receive_data(await self._read(patience))
        except h11.RemoteProtocolError as error:
            raise httpx2.RemoteProtocolError(str(error)) from error
        return event

    async def _read(self, patience: dict[str, Any]) -> bytes:
        try:
            async with _within(patience.get("read")):
                data = await self._wire.read()
        except TimeoutError as error:
            raise httpx2.ReadTimeout("") from error
        if not data and self._wire.error:
            raise httpx2.ReadError(str(self._wire.error)) from self._wire.error
        if not data and self._http.their_state is h11.SEND_RESPONSE:
            raise httpx2.RemoteProtocolError("the other side disconnected without an answer")
        return data


class Body(httpx2.AsyncByteStream):
    """What an answer says. Whoever has read it to its end or leaves it gives the connection back."""

    def __init__(
        self, transport: DirectTransport, origin: Origin, connection: Connection, patience: dict[str, Any]
    ) -> None:
        self._transport = transport
        self._origin = origin
        self._connection: Connection | None = connection
        self._patience = patience

    async def __aiter__(self) -> AsyncIterator[bytes]:
        if self._connection is not None:
            async for piece in self._connection.pieces(self._patience):
                yield piece

    async def aclose(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await self._transport.rest(self._origin, connection)


def _within(seconds: float | None) -> AbstractAsyncContextManager[object]:
    return nullcontext() if seconds is None else asyncio.timeout(seconds)
