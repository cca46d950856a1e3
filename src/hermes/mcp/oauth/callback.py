"""The small page on this machine to which a browser returns after a login."""

import asyncio
from typing import Self
from urllib.parse import parse_qsl, urlsplit

from msgspec import Struct

from hermes.config import OAuthSettings
from hermes.mcp.oauth.web import LoginFailed, is_loopback

PATH = "/callback"
PATIENCE = 10.0
"""Seconds that a browser may take to send its request."""
DONE = "You can close this window and go back to Hermes."
NOTHING = "There is nothing here."


class Returned(Struct, frozen=True):
    """What the login server gave the browser to take back."""

    code: str = ""
    state: str = ""
    issuer: str | None = None
    error: str = ""
    description: str = ""

    def __repr__(self) -> str:
        return f"Returned(error={self.error!r})"


def parse(address: str) -> Returned | None:
    """Read the address to which the browser was sent, or its query alone; None if it is something else."""
    text = address.strip()
    try:
        query = urlsplit(text).query or text.lstrip("?")
    except ValueError:
        return None
    found = dict(parse_qsl(query))
    if "code" not in found and "error" not in found:
        return None
    return Returned(
        found.get("code", ""),
        found.get("state", ""),
        found.get("iss"),
        found.get("error", ""),
        found.get("error_description", ""),
    )


class Callback:
    """Listens while it is open; `redirect_uri` is where the browser must be sent, `returned()` what it brought.

    `port` is tried first where the config leaves the port free: a registration names its port. A redirect URI of
    another machine is not listened for: then the person pastes the address.
    """

    def __init__(self, settings: OAuthSettings, port: int = 0) -> None:
        self._settings = settings
        self._remembered = port
        self._server: asyncio.Server | None = None
        self._visitors: set[asyncio.StreamWriter] = set()
        self._arrived: asyncio.Future[Returned] = asyncio.get_running_loop().create_future()
        self.redirect_uri = settings.redirect_uri

    async def __aenter__(self) -> Self:
        host, port = self._address()
        if port is None:
            return self
        try:
            self._server = await self._listen(host, port)
        except OSError as error:
            hint = "end what listens there, or set oauth.redirect_port of the server to another port"
            raise LoginFailed(
                f"cannot wait for the browser at {host}:{port}: {error.strerror or error}", hint
            ) from error
        taken = self._server.sockets[0].getsockname()[1]
        shown = f"[{host}]" if ":" in host else host
        self.redirect_uri = self.redirect_uri or f"http://{shown}:{taken}{PATH}"
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._server is not None:
            self._server.close()
            # Browsers open connections in advance and say nothing on them.
            for visitor in self._visitors:
                visitor.close()
            await self._server.wait_closed()

    async def returned(self) -> Returned:
        return await asyncio.shield(self._arrived)

    def _address(self) -> tuple[str, int | None]:
        """Where to listen; a port of None means nowhere."""
        settings = self._settings
        if not settings.redirect_uri:
            return settings.redirect_host, settings.redirect_port
        parts = urlsplit(settings.redirect_uri)
        if settings.redirect_port:
            return settings.redirect_host, settings.redirect_port
        if parts.scheme == "http" and parts.hostname and is_loopback(parts.hostname):
            return parts.hostname, parts.port or 80
        return "", None

    async def _listen(self, host: str, port: int) -> asyncio.Server:
        # "localhost" may mean two addresses, which would get two ports.
        bound = "127.0.0.1" if host == "localhost" else host
        if port == 0 and self._remembered:
            try:
                return await asyncio.start_server(self._serve, bound, self._remembered)
            except OSError:
                return await asyncio.start_server(self._serve, bound, 0)
        return await asyncio.start_server(self._serve, bound, port)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._visitors.add(writer)
        try:
            async with asyncio.timeout(PATIENCE):
                head = await reader.readuntil(b"\r\n\r\n")
                returned = self._read(head)
                status, text = ("200 OK", DONE) if returned else ("404 Not Found", NOTHING)
                writer.write(_page(status, text))
                await writer.drain()
        except (TimeoutError, OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError):
            returned = None
        finally:
            self._visitors.discard(writer)
            writer.close()
        if returned and not self._arrived.done():
            self._arrived.set_result(returned)

    def _read(self, head: bytes) -> Returned | None:
        method, _, rest = head.split(b"\r\n", 1)[0].decode("latin-1").partition(" ")
        target = urlsplit(rest.partition(" ")[0])
        if method != "GET" or target.path != (urlsplit(self.redirect_uri).path or "/"):
            return None
        return parse("?" + target.query)


def _page(status: str, text: str) -> bytes:
    body = f"<!doctype html><meta charset=utf-8><title>Hermes</title><p>{text}\n".encode()
    head = (
        f"HTTP/1.1 {status}\r\ncontent-type: text/html; charset=utf-8\r\ncontent-length: {len(body)}\r\n"
        "cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n"
    )
    return head.encode() + body
