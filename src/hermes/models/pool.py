"""The process's connections to model providers: opened once, shared by every call, closed at the end."""

import ipaddress
from collections.abc import Mapping
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from hermes.protocol.errors import UserError

if TYPE_CHECKING:
    import ssl

    import httpx2

KEPT_OPEN = 60.0
"""Seconds that an unused connection is kept; a tool that runs in between should not cost a new handshake."""


class Pool:
    """Hands out the client for a URL. What TLS needs takes 40 ms, so it is made when the first https:// URL is dialled.

    `proxies` has the well-known variables by name (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY, in either case);
    nothing is read from the environment. `ca_file` holds certificates to trust instead of the system's.
    """

    def __init__(
        self, *, force_ipv4: bool = False, proxies: Mapping[str, str] | None = None, ca_file: str = ""
    ) -> None:
        self._force_ipv4 = force_ipv4
        self._proxies = {name.lower().removesuffix("_proxy"): value for name, value in (proxies or {}).items() if value}
        self._ca_file = ca_file
        self._clients: dict[tuple[bool, str], httpx2.AsyncClient] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection; the pool may be used again, with new ones."""
        clients, self._clients = self._clients, {}
        for client in clients.values():
            await client.aclose()

    def client(self, url: str) -> "httpx2.AsyncClient":
        """The client that dials this URL, directly or by its proxy."""
        proxy = self._proxy_of(url)
        encrypted = url.startswith("https:") or proxy.startswith("https:")
        if (encrypted, proxy) not in self._clients:
            self._clients[encrypted, proxy] = self._open(encrypted, proxy)
        return self._clients[encrypted, proxy]

    def _open(self, encrypted: bool, proxy: str) -> "httpx2.AsyncClient":
        import httpx2

        from hermes.models.direct import DirectTransport

        trust = self._trust() if encrypted else None
        local_address = "0.0.0.0" if self._force_ipv4 else None
        if not proxy:
            transport = DirectTransport(tls=trust, keep=KEPT_OPEN, local_address=local_address)
        else:
            limits = httpx2.Limits(max_connections=None, keepalive_expiry=KEPT_OPEN)
            try:
                transport = httpx2.AsyncHTTPTransport(
                    verify=trust or False, trust_env=False, proxy=proxy, local_address=local_address, limits=limits
                )
            except (ValueError, ImportError, httpx2.InvalidURL) as error:
                raise UserError(f"the proxy {proxy} cannot be used", "set it as http://HOST:PORT") from error
        return httpx2.AsyncClient(transport=transport, trust_env=False, follow_redirects=False)

    def _trust(self) -> "ssl.SSLContext":
        import ssl

        import httpx2

        if not self._ca_file:
            return httpx2.create_ssl_context(trust_env=False)

        try:
            return ssl.create_default_context(cafile=self._ca_file)
        except OSError as error:
            hint = "set SSL_CERT_FILE to a file of certificates, or unset it"
            raise UserError(f"the certificates in {self._ca_file} cannot be read", hint) from error

    def _proxy_of(self, url: str) -> str:
        if not self._proxies:
            return ""
        parts = urlsplit(url)
        proxy = self._proxies.get(parts.scheme) or self._proxies.get("all", "")
        return "" if not proxy or self._goes_direct(parts.hostname or "", parts.port) else proxy

    def _goes_direct(self, host: str, port: int | None) -> bool:
        """A model on this machine is never behind a proxy; what else is not, NO_PROXY says."""
        if _is_loopback(host):
            return True
        exempt = [entry.strip().lstrip(".") for entry in self._proxies.get("no", "").lower().split(",")]
        names = (host, f"{host}:{port}")
        return any(entry == "*" or f".{name}".endswith(f".{entry}") for entry in exempt if entry for name in names)


def _is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
