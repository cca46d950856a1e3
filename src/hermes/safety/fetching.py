"""The transport of every fetch that Hermes makes for a model: it dials exactly the address that was checked.

Importing this imports httpx2, so it is imported where something is fetched.
"""

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

import httpx2

from hermes.protocol.errors import Denied, ToolError
from hermes.safety.urls import BadURL, URLPolicy

if TYPE_CHECKING:
    import ssl

Resolve = Callable[[str, int], Awaitable[Sequence[str]]]
"""A look-up: a host and a port in, addresses out."""

MOST_BYTES = 20_000_000
SECONDS = 60.0
_TRIED = 4


async def look_up(host: str, port: int) -> Sequence[str]:
    """The addresses that this machine's resolver knows for a host."""
    try:
        found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    except OSError as error:
        raise httpx2.ConnectError(f"{host} has no address: {error.strerror or error}") from error
    return [str(address[0]) for *_, address in found]


class GuardedTransport(httpx2.AsyncBaseTransport):
    """Judges each request, redirects too, by the addresses of its host, and dials one of them and no other.

    A URL that may not be fetched raises Denied before anything is sent. An answer of more than `most_bytes` as sent is a
    ToolError, one that takes longer than `seconds` an httpx2.TimeoutException.
    """

    def __init__(
        self,
        policy: URLPolicy | None = None,
        *,
        resolve: Resolve = look_up,
        most_bytes: int = MOST_BYTES,
        seconds: float = SECONDS,
        trust: "ssl.SSLContext | bool" = True,
    ) -> None:
        self._policy = policy or URLPolicy()
        self._resolve = resolve
        self._most_bytes = most_bytes
        self._seconds = seconds
        self._trust = trust
        self._inner: dict[bool, httpx2.AsyncHTTPTransport] = {}

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        deadline = asyncio.get_running_loop().time() + self._seconds
        try:
            async with asyncio.timeout_at(deadline):
                response = await self._answer(request)
        except BadURL as bad:
            raise Denied(f"Blocked by the rule {bad.rule}: {bad}. Do not try to reach it by another way.") from bad
        except TimeoutError as error:
            raise httpx2.ReadTimeout(self._too_slow(), request=request) from error
        return httpx2.Response(
            response.status_code,
            headers=response.headers,
            stream=_Bounded(response, self._most_bytes, deadline, self._too_slow()),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        inner, self._inner = self._inner, {}
        for transport in inner.values():
            await transport.aclose()

    async def _answer(self, request: httpx2.Request) -> httpx2.Response:
        target = self._policy.check(str(request.url))
        extensions = dict(request.extensions)
        if target.address is not None:
            addresses = [target.address]
        else:
            answers = await self._resolve(target.host, target.port)
            addresses = self._policy.check_answers(target.host, answers)[:_TRIED]
            extensions["sni_hostname"] = target.host
        for address in addresses:
            dialled = httpx2.Request(
                request.method,
                request.url.copy_with(host=str(address)),
                headers=request.headers,
                stream=request.stream,
                extensions=extensions,
            )
            try:
                return await self._transport(target.scheme == "https").handle_async_request(dialled)
            except (httpx2.ConnectError, httpx2.ConnectTimeout):
                if address == addresses[-1]:
                    raise
        raise AssertionError("a look-up without answers is refused before this")

    def _transport(self, encrypted: bool) -> httpx2.AsyncHTTPTransport:
        """The transport below. It keeps no connection: by address alone it could not tell two hosts of one machine apart."""
        if encrypted not in self._inner:
            self._inner[encrypted] = httpx2.AsyncHTTPTransport(
                verify=self._trust if encrypted else False,
                trust_env=False,
                limits=httpx2.Limits(max_keepalive_connections=0),
            )
        return self._inner[encrypted]

    def _too_slow(self) -> str:
        return f"no whole answer within {self._seconds:g} seconds"


class _Bounded(httpx2.AsyncByteStream):
    """The body of a response, with an end to its size and its time."""

    def __init__(self, response: httpx2.Response, most: int, deadline: float, too_slow: str) -> None:
        self._response = response
        self._most = most
        self._deadline = deadline
        self._too_slow = too_slow

    async def __aiter__(self) -> AsyncIterator[bytes]:
        assert isinstance(self._response.stream, httpx2.AsyncByteStream)
        pieces = aiter(self._response.stream)
        size = 0
        while True:
            try:
                async with asyncio.timeout_at(self._deadline):
                    piece = await anext(pieces, None)
            except TimeoutError as error:
                raise httpx2.ReadTimeout(self._too_slow) from error
            if piece is None:
                return
            size += len(piece)
            if size > self._most:
                raise ToolError(f"the answer is larger than {self._most:,} bytes; fetch something smaller")
            yield piece

    async def aclose(self) -> None:
        await self._response.aclose()


async def read_up_to(response: httpx2.Response, most: int) -> tuple[bytes, bool]:
    """The first `most` bytes of an open response, unpacked, and whether there were more: a packed body can grow a thousandfold."""
    body = bytearray()
    async for piece in response.aiter_bytes():
        body += piece
        if len(body) > most:
            return bytes(body[:most]), True
    return bytes(body), False
