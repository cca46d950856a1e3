"""HTTP/1.1 straight to a host: h11 on a wire of ours, and wires that are used again.

httpx2 can do more (HTTP/2, proxies, redirects), and to load it costs a fifth of a one-line answer.
"""

import asyncio
import ssl
import zlib
from base64 import b64encode
from collections.abc import Mapping

import h11

from hermes.models.exchange import Address, Fault, Request, address, lost, unreachable
from hermes.models.wire import Wire, dial
from hermes.protocol.errors import BadRequest

LONGEST_HEADERS = 100 << 10
EITHER_GZIP_OR_ZLIB = zlib.MAX_WBITS | 32


class Direct:
    """Connections by origin. One that was answered to the end is kept for `keep` seconds and used by the next request."""

    def __init__(self, *, tls: ssl.SSLContext | None, keep: float, local_address: str | None = None) -> None:
        self._tls = tls
        self._keep = keep
        self._local_address = local_address
        self._resting: dict[tuple[str, str, int], list[tuple[float, Connection]]] = {}

    async def ask(self, request: Request) -> "DirectAnswer":
        place = address(request.url)
        connection = await self._rested(place) or await self._dialled(place, request.connect)
        try:
            begun = await connection.ask(request)
        except BaseException:
            await connection.close()
            raise
        return DirectAnswer(self, connection, begun)

    async def close(self) -> None:
        resting, self._resting = self._resting, {}
        for connections in resting.values():
            for _, connection in connections:
                await connection.close()

    async def rest(self, connection: "Connection") -> None:
        """Take a connection back that is not needed at the moment."""
        if connection.is_done():
            kept = self._resting.setdefault(connection.place.origin, [])
            kept.append((asyncio.get_running_loop().time(), connection))
        else:
            await connection.close()

    async def _rested(self, place: Address) -> "Connection | None":
        resting = self._resting.get(place.origin, [])
        while resting:
            since, connection = resting.pop()
            if asyncio.get_running_loop().time() - since < self._keep and connection.is_fresh():
                return connection
            await connection.close()
        return None

    async def _dialled(self, place: Address, seconds: float) -> "Connection":
        tls = self._tls if place.scheme == "https" else None
        try:
            async with asyncio.timeout(seconds):
                wire = await dial(place.host, place.port, tls=tls, local_address=self._local_address)
        except (OSError, UnicodeError) as error:
            raise unreachable(place.authority, error) from error
        return Connection(place, wire)


class Connection:
    """One connection: a request, its answer, and then the next."""

    def __init__(self, place: Address, wire: Wire) -> None:
        self.place = place
        self._wire = wire
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=LONGEST_HEADERS)

    async def ask(self, request: Request) -> h11.Response:
        """Send a request, and wait until its answer begins."""
        data = self._written(request)
        try:
            async with asyncio.timeout(request.write):
                await self._wire.write(data)
        except TimeoutError as error:
            raise lost(self.place.authority, error) from error
        while isinstance(answer := await self.event(), h11.InformationalResponse):
            continue
        if not isinstance(answer, h11.Response):
            raise lost(self.place.authority, "the other side wants to speak another protocol")
        return answer

    async def event(self) -> object:
        """The next that the other side says, once it has come."""
        while (event := self.event_at_hand()) is h11.NEED_DATA:
            data = await self._wire.read()
            if not data and self._wire.error:
                raise lost(self.place.authority, self._wire.error)
            if not data and self._http.their_state is h11.SEND_RESPONSE:
                raise lost(self.place.authority, "the other side disconnected without an answer")
            self._http.receive_data(data)
        return event

    def event_at_hand(self) -> object:
        """The next of what has come already, or h11.NEED_DATA."""
        try:
            return self._http.next_event()
        except h11.RemoteProtocolError as error:
            raise lost(self.place.authority, error) from error

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

    def _written(self, request: Request) -> bytes:
        headers = {"host": self.place.authority, **request.headers}
        if self.place.login:
            headers["authorization"] = f"Basic {b64encode(self.place.login.encode()).decode()}"
        if request.method != "GET":
            headers["content-length"] = str(len(request.body))
        try:
            head = h11.Request(method=request.method, target=self.place.target, headers=list(headers.items()))
            parts = (head, h11.Data(request.body), h11.EndOfMessage())
            return b"".join(filter(None, map(self._http.send, parts)))
        except (h11.LocalProtocolError, UnicodeEncodeError) as error:
            raise BadRequest(f"what would be sent to {self.place.authority} is no request: {error}") from error


class DirectAnswer:
    """An answer on a connection. Whoever has read it to its end or leaves it gives the connection back."""

    def __init__(self, direct: Direct, connection: Connection, begun: h11.Response) -> None:
        self.status = begun.status_code
        self.headers: Mapping[str, str] = {name.decode(): value.decode("latin-1") for name, value in begun.headers}
        self._direct = direct
        self._connection: Connection | None = connection
        self._broken: Fault | None = None
        self._ended = False
        # It was told to send plain text, and some gateways do not listen.
        packed = self.headers.get("content-encoding", "") in ("gzip", "x-gzip", "deflate")
        self._unpack = zlib.decompressobj(EITHER_GZIP_OR_ZLIB).decompress if packed else bytes

    async def read(self) -> bytes:
        said = b""
        while not said and not self._ended and self._connection is not None:
            said = await self._read(self._connection)
        return said

    async def _read(self, connection: Connection) -> bytes:
        """All that has come, so that many small pieces are taken in at once."""
        if self._broken:
            raise self._broken
        pieces: list[bytes] = []
        event = await connection.event()
        while isinstance(event, h11.Data):
            pieces.append(event.data)
            try:
                event = connection.event_at_hand()
            except Fault as error:
                # What came before the fault is heard first.
                self._broken = error
                break
        else:
            self._ended = event is not h11.NEED_DATA
        try:
            return self._unpack(b"".join(pieces))
        except zlib.error as error:
            raise lost(connection.place.authority, error) from error

    async def close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            await self._direct.rest(connection)
