"""What Hermes says to login servers and hears from them: short JSON, only at addresses that may be trusted with secrets."""

import ipaddress
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import SplitResult, urlsplit

import msgspec
from msgspec import Struct

from hermes.protocol.errors import HermesError, UserError

if TYPE_CHECKING:
    import httpx2

T = TypeVar("T")
Connect = Callable[[], "httpx2.AsyncClient"]
"""Makes a new client, which is closed after use; it is called in threads with a loop of their own."""

TIMEOUT = 20.0
LARGEST = 1_000_000
"""Bytes of an answer that are read; metadata and tokens have a few thousand."""
LONGEST = 200
"""Characters of a server's own words that are shown."""


class LoginFailed(UserError):
    """A person tried to log in and is not; the text is one line, the hint what to do."""


class Unanswered(HermesError):
    """No answer came that means yes or no; the same request may work later."""


class Reply(Struct, frozen=True):
    """A whole answer; `challenge` is its WWW-Authenticate header."""

    status: int
    body: bytes
    challenge: str = ""


class _Problem(Struct, frozen=True):
    error: str = ""
    error_description: str = ""


async def request(
    connect: Connect,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    form: Mapping[str, str] | None = None,
    json: object = None,
) -> Reply:
    """Ask once; redirects are not followed, for a secret would travel with them."""
    import httpx2

    sent = {"accept": "application/json", **(headers or {})}
    content = None
    if json is not None:
        sent.setdefault("content-type", "application/json")
        content = msgspec.json.encode(json)
    try:
        async with (
            connect() as client,
            client.stream(
                method,
                url,
                headers=sent,
                data=None if form is None else dict(form),
                content=content,
                timeout=TIMEOUT,
                follow_redirects=False,
            ) as response,
        ):
            body = bytearray()
            if response.headers.get("content-type", "").startswith("text/event-stream"):
                return Reply(response.status_code, b"")
            async for part in response.aiter_bytes():
                body += part
                if len(body) > LARGEST:
                    raise Unanswered(f"{host_of(url)} sent more than {LARGEST} bytes")
            challenge = ", ".join(response.headers.get_list("www-authenticate"))
            return Reply(response.status_code, bytes(body), challenge)
    except (httpx2.HTTPError, httpx2.InvalidURL, OSError) as error:
        raise Unanswered(f"cannot reach {host_of(url)}: {str(error) or type(error).__name__}") from error


def read(body: bytes, kind: type[T]) -> T:
    """The answer as `kind`. Servers write null or "" for what they leave out, and numbers as text."""
    table = msgspec.json.decode(body, type=dict[str, Any])
    present = {name: value for name, value in table.items() if value is not None and value != ""}
    return msgspec.convert(present, kind, strict=False)


def error_code(reply: Reply) -> str:
    """The OAuth error that the answer names, or ""."""
    return _problem(reply).error


def said(reply: Reply, secrets: Iterable[str] = ()) -> str:
    """The server's words as part of one line, without the secrets that it may have echoed."""
    problem = _problem(reply)
    return plain(problem.error_description or problem.error or f"HTTP {reply.status}", secrets)


def plain(text: str, secrets: Iterable[str] = ()) -> str:
    """Foreign text as part of one line: no secrets, no control characters, not long."""
    for secret in secrets:
        if secret:
            text = text.replace(secret, "***")
    words = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"


def is_safe(url: str, server: str) -> bool:
    """Whether a login may use this address: https, or, for a server that is itself reached by http, its own machine.

    The address comes from the server. An https server must not lead us to a plain one, nor to what listens here.
    """
    there, here = _split(url), _split(server)
    if there is None or not there.hostname or there.username is not None or there.fragment:
        return False
    if there.scheme == "https":
        return True
    if there.scheme != "http" or here is None or here.scheme != "http":
        return False
    return there.hostname == here.hostname or (is_loopback(there.hostname) and is_loopback(here.hostname or ""))


def is_loopback(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def host_of(url: str) -> str:
    """The part of an address that a person recognises."""
    parts = _split(url)
    return plain(parts.netloc.rpartition("@")[2]) if parts and parts.netloc else "the login server"


def _split(url: str) -> SplitResult | None:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return None
    return parts


def _problem(reply: Reply) -> _Problem:
    try:
        return read(reply.body, _Problem)
    except msgspec.MsgspecError:
        return _Problem()
