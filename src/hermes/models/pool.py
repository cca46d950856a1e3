"""The process's connections to model providers: opened once, shared by every call, closed at the end."""

import asyncio
import ipaddress
import os
import sys
from collections.abc import Mapping
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from msgspec import Struct

from hermes.models.exchange import Answer, Request, Way, address, lost
from hermes.protocol.errors import UserError

if TYPE_CHECKING:
    import ssl

KEPT_OPEN = 60.0
"""Seconds that an unused connection is kept; a tool that runs in between should not cost a new handshake."""


class Fetched(Struct, frozen=True):
    """A whole answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Pool:
    """Asks hosts, straight or by their proxy. What TLS needs takes 40 ms, so it is made when the first https:// URL is dialled.

    `proxies` has the well-known variables by name (HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY, in either case);
    nothing is read from the environment. `ca_file` holds certificates to trust instead of the system's.
    """

    def __init__(
        self, *, force_ipv4: bool = False, proxies: Mapping[str, str] | None = None, ca_file: str = ""
    ) -> None:
        self._force_ipv4 = force_ipv4
        self._proxies = {name.lower().removesuffix("_proxy"): value for name, value in (proxies or {}).items() if value}
        self._ca_file = ca_file
        self._ways: dict[tuple[bool, str], Way] = {}

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close every connection; the pool may be used again, with new ones."""
        ways, self._ways = self._ways, {}
        for way in ways.values():
            await way.close()

    async def ask(self, request: Request) -> Answer:
        """The answer once it has begun. Raises Fault."""
        return await self.way(request.url).ask(request)

    async def fetch(self, request: Request, seconds: float) -> Fetched:
        """The whole answer to a small question; Fault if it has not come by then."""
        try:
            async with asyncio.timeout(seconds):
                answer = await self.ask(request)
                try:
                    return Fetched(answer.status, answer.headers, await _all(answer))
                finally:
                    await answer.close()
        except TimeoutError as error:
            raise lost(address(request.url).authority, error) from error

    def way(self, url: str) -> Way:
        """How this URL is reached: straight, or by its proxy."""
        proxy = self._proxy_of(url)
        encrypted = url.startswith("https:") or proxy.startswith("https:")
        if (encrypted, proxy) not in self._ways:
            self._ways[encrypted, proxy] = self._open(encrypted, proxy)
        return self._ways[encrypted, proxy]

    def _open(self, encrypted: bool, proxy: str) -> Way:
        trust = self._trust() if encrypted else None
        local_address = "0.0.0.0" if self._force_ipv4 else None
        if not proxy:
            from hermes.models.direct import Direct

            return Direct(tls=trust, keep=KEPT_OPEN, local_address=local_address)
        from hermes.models.proxied import Proxied

        return Proxied(proxy, tls=trust, keep=KEPT_OPEN, local_address=local_address)

    def _trust(self) -> "ssl.SSLContext":
        import ssl

        if not self._ca_file:
            return _system_trust()
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


async def _all(answer: Answer) -> bytes:
    pieces: list[bytes] = []
    while piece := await answer.read():
        pieces.append(piece)
    return b"".join(pieces)


def _system_trust() -> "ssl.SSLContext":
    """The certificates where OpenSSL was built to look for them; httpx2 knows what to do where there are none."""
    import ssl

    paths = ssl.get_default_verify_paths()
    file = paths.openssl_cafile if os.path.isfile(paths.openssl_cafile) else None
    folder = paths.openssl_capath if os.path.isdir(paths.openssl_capath) and os.listdir(paths.openssl_capath) else None
    if sys.platform == "darwin" or not (file or folder):
        import httpx2

        return httpx2.create_ssl_context(trust_env=False)
    return ssl.create_default_context(cafile=file, capath=folder)
