"""The same exchange by way of a proxy, which httpx2 knows how to speak with.

Importing this imports httpx2, so it is imported where there is a proxy.
"""

import ssl
from collections.abc import AsyncIterator, Mapping

import httpx2

from hermes.models.exchange import Request, address, lost, unreachable
from hermes.protocol.errors import BadRequest, UserError


class Proxied:
    """One proxy, and the connections through it that are kept for `keep` seconds."""

    def __init__(
        self, proxy: str, *, tls: ssl.SSLContext | None, keep: float, local_address: str | None = None
    ) -> None:
        limits = httpx2.Limits(max_connections=None, keepalive_expiry=keep)
        try:
            transport = httpx2.AsyncHTTPTransport(
                verify=tls or False, trust_env=False, proxy=proxy, local_address=local_address, limits=limits
            )
        except (ValueError, ImportError, httpx2.InvalidURL) as error:
            raise UserError(f"the proxy {proxy} cannot be used", "set it as http://HOST:PORT") from error
        self._client = httpx2.AsyncClient(transport=transport, trust_env=False, follow_redirects=False)

    async def ask(self, request: Request) -> "ProxiedAnswer":
        host = address(request.url).authority
        patience = httpx2.Timeout(connect=request.connect, write=request.write, read=None, pool=None)
        try:
            asked = self._client.build_request(
                request.method, request.url, content=request.body, headers=request.headers, timeout=patience
            )
            return ProxiedAnswer(host, await self._client.send(asked, stream=True))
        except httpx2.InvalidURL as error:
            raise BadRequest(f"{request.url} is no web address: set base_url") from error
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise unreachable(host, _plain(error)) from error
        except httpx2.HTTPError as error:
            raise lost(host, _plain(error)) from error

    async def close(self) -> None:
        await self._client.aclose()


class ProxiedAnswer:
    def __init__(self, host: str, response: httpx2.Response) -> None:
        self.status = response.status_code
        self.headers: Mapping[str, str] = response.headers
        self._host = host
        self._response = response
        self._pieces: AsyncIterator[bytes] = response.aiter_bytes()

    async def read(self) -> bytes:
        try:
            while (piece := await anext(self._pieces, None)) == b"":
                continue
        except httpx2.HTTPError as error:
            raise lost(self._host, _plain(error)) from error
        return piece or b""

    async def close(self) -> None:
        await self._response.aclose()


def _plain(error: httpx2.HTTPError) -> BaseException:
    """httpx2 has timeouts of its own, which have nothing to say."""
    return TimeoutError() if isinstance(error, httpx2.TimeoutException) else error
