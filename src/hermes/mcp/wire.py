"""The HTTP transport under the SDK: it turns every failure into an answer, and tells the caller what really happened.

An exception on one POST would end the SDK's task group, and with it every call in flight.
"""

import asyncio
import logging
import ssl
from collections.abc import AsyncIterator, Callable

import httpx2

from hermes.config import McpServer
from hermes.mcp import faults
from hermes.mcp.contract import Authority, Fault
from hermes.mcp.exchange import Exchange, current
from hermes.protocol.errors import UserError

log = logging.getLogger(__name__)
LIMIT = 16 << 20
ERROR_BODY = 64 << 10
SESSION = "mcp-session-id"
NOT_SENT = (
    httpx2.ConnectError,
    httpx2.ConnectTimeout,
    httpx2.PoolTimeout,
    httpx2.ProxyError,
    httpx2.UnsupportedProtocol,
)


class Wire(httpx2.AsyncBaseTransport):
    """One connection's HTTP. With `by_stream` (the SSE transport) answers come on the GET stream and not on their POST."""

    def __init__(
        self,
        inner: httpx2.AsyncBaseTransport,
        authority: Authority | None,
        *,
        by_stream: bool = False,
        ended: Callable[[], None] = lambda: None,
    ) -> None:
        self._inner, self._authority = inner, authority
        self._by_stream, self._ended = by_stream, ended
        self.session_lost = False
        self.era_unsure = False
        self.barred: Fault | None = None

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        if request.method == "DELETE" and self.session_lost:
            return httpx2.Response(204)
        message = faults.envelope(request.content if request.method == "POST" else b"")
        asks = (message.id is not None and bool(message.method)) or (self._by_stream and request.method == "GET")
        exchange = current.get() if asks else None
        had_session = SESSION in request.headers or (self._by_stream and request.method == "POST")
        try:
            header = await self._authority.header() if self._authority else ""
            if header:
                request.headers["authorization"] = header
            if exchange:
                exchange.begin(had_session=had_session, authorization=header)
            return await self._send(request, message.method, exchange, had_session)
        except httpx2.TransportError as error:
            sent = not isinstance(error, NOT_SENT)
            text = str(error) or type(error).__name__
            fault = Fault(kind="cut" if sent else "refused", text=text, sent=sent, had_session=had_session)
        except Exception as error:  # whatever reached the SDK's task group would end every other call
            log.exception("a request to an MCP server could not be made")
            fault = Fault(kind="refused", text=str(error) or type(error).__name__, sent=False)
        if message.method == "server/discover":
            self.era_unsure = True
        return self._failed(exchange, fault, httpx2.Response(502))

    async def _send(
        self, request: httpx2.Request, method: str, exchange: Exchange | None, had_session: bool
    ) -> httpx2.Response:
        response = await self._inner.handle_async_request(request)
        if response.status_code >= 400:
            body = await _read(response, ERROR_BODY) or b""
            fault = faults.of_status(response.status_code, response.headers, body, had_session=had_session)
            if method == "server/discover":
                self.era_unsure = fault.kind in ("broken", "busy", "unauthorized", "scope")
                self.barred = fault if fault.kind in ("unauthorized", "scope") else None
            return self._failed(exchange, fault, _whole(response, body))
        if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
            lost = self._ended if self._by_stream and request.method == "GET" else lambda: None
            stream = _Guarded(response, exchange, had_session, lost)
            return httpx2.Response(response.status_code, headers=response.headers, stream=stream)
        body = await _read(response, LIMIT)
        if body is None:
            fault = Fault(kind="oversize", text=f"the answer is larger than {LIMIT >> 20} MB", had_session=had_session)
            return self._failed(exchange, fault, httpx2.Response(502))
        return _whole(response, body)

    def _failed(self, exchange: Exchange | None, fault: Fault, response: httpx2.Response) -> httpx2.Response:
        if exchange:
            exchange.fail(fault)
        if self._by_stream and exchange and exchange.task:
            # The SDK's SSE transport stops sending for ever after one bad status.
            exchange.abort()
            return httpx2.Response(202)
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Guarded(httpx2.AsyncByteStream):
    """An event stream that ends where it is cut, and says so to its caller only."""

    def __init__(
        self, response: httpx2.Response, exchange: Exchange | None, had_session: bool, ended: Callable[[], None]
    ) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream), "an asynchronous transport gives no other"
        self._inner, self._exchange, self._had_session, self._ended = response.stream, exchange, had_session, ended

    async def __aiter__(self) -> AsyncIterator[bytes]:
        try:
            async for part in self._inner:
                yield part
        except httpx2.TransportError as error:
            if self._exchange:
                text = f"the answer was cut: {str(error) or type(error).__name__}"
                self._exchange.fail(Fault(kind="cut", text=text, had_session=self._had_session))
        self._ended()

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _read(response: httpx2.Response, limit: int) -> bytes | None:
    """The decoded body; None if it is larger than the limit."""
    parts, size = [], 0
    try:
        async for part in response.aiter_bytes():
            size += len(part)
            if size > limit:
                return None
            parts.append(part)
    except httpx2.DecodingError as error:
        raise httpx2.RemoteProtocolError(str(error)) from error
    finally:
        await response.aclose()
    return b"".join(parts)


def _whole(response: httpx2.Response, body: bytes) -> httpx2.Response:
    kept = ("content-encoding", "content-length", "transfer-encoding")
    headers = [(name, value) for name, value in response.headers.multi_items() if name.lower() not in kept]
    return httpx2.Response(response.status_code, headers=headers, content=body)


async def open_transport(name: str, settings: McpServer) -> httpx2.AsyncHTTPTransport:
    """httpx2's own transport for a server's URL, with its certificates; for http:// none are loaded."""
    encrypted = settings.url.startswith("https:")
    verify = await asyncio.to_thread(_trust, name, settings) if encrypted else False
    limits = httpx2.Limits(max_connections=None, max_keepalive_connections=64)
    return httpx2.AsyncHTTPTransport(verify=verify, trust_env=False, limits=limits)


def _trust(name: str, settings: McpServer) -> ssl.SSLContext:
    try:
        if isinstance(settings.ssl_verify, str):
            context = ssl.create_default_context(cafile=settings.ssl_verify)
        else:
            context = httpx2.create_ssl_context(verify=settings.ssl_verify, trust_env=False)
        if settings.client_cert:
            context.load_cert_chain(settings.client_cert, settings.client_key or None)
        return context
    except OSError as error:
        hint = f"check mcp_servers.{name}.ssl_verify, client_cert and client_key"
        raise UserError(f"the certificates of MCP server {name} cannot be read: {error}", hint) from error
