"""One HTTP exchange as models need it: an address, a request, an answer that comes in pieces, and a connection's faults."""

from collections.abc import Mapping
from functools import lru_cache
from typing import Protocol
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct

from hermes.models import faults
from hermes.protocol.errors import BadRequest, Disconnected

PORTS = {"http": 80, "https": 443}
# What may stand in a path or a query as it is, besides letters and digits.
PLAIN = "/?%:@!$&'()*+,;=[]"


class Address(Struct, frozen=True):
    """Where a URL leads; `login` is the name and password in it, as name:password."""

    scheme: str
    host: str
    port: int
    target: str
    login: str = ""

    @property
    def origin(self) -> tuple[str, str, int]:
        return self.scheme, self.host, self.port

    @property
    def authority(self) -> str:
        """Host and port as the Host header has them."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == PORTS[self.scheme] else f"{host}:{self.port}"


@lru_cache(64)
def address(url: str) -> Address:
    """Where a URL leads; BadRequest if it is none of the web."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").encode("ascii" if url.isascii() else "idna").decode()
        usual = PORTS[parts.scheme]
        port = parts.port or usual
    except (ValueError, KeyError) as error:
        raise BadRequest(f"{url} is no web address: set base_url") from error
    if not host or not url.isprintable():
        raise BadRequest(f"{url} is no web address: set base_url")
    target = quote(parts.path or "/", safe=PLAIN) + (f"?{quote(parts.query, safe=PLAIN)}" if parts.query else "")
    login = unquote(f"{parts.username or ''}:{parts.password or ''}") if "@" in parts.netloc else ""
    return Address(parts.scheme, host, port, target, login)


class Request(Struct, frozen=True, kw_only=True):
    """What is asked, and after how many seconds without a connection, or without being heard, it is given up."""

    url: str
    method: str = "POST"
    headers: Mapping[str, str] = {}
    body: bytes = b""
    connect: float = 10.0
    write: float = 120.0


class Answer(Protocol):
    """An answer that has begun; the names of its headers are in small letters."""

    @property
    def status(self) -> int: ...

    @property
    def headers(self) -> Mapping[str, str]: ...

    async def read(self) -> bytes:
        """What it says next, as soon as something has come; nothing at its end. Raises Fault."""
        ...

    async def close(self) -> None:
        """Leave it, read to the end or not."""
        ...


class Way(Protocol):
    """How a host is reached."""

    async def ask(self, request: Request) -> Answer:
        """The answer once it has begun. Raises Fault."""
        ...

    async def close(self) -> None: ...


class Fault(Disconnected):
    """What became of a connection to a host; `why` says it without the host."""

    why = ""


def unreachable(host: str, error: BaseException) -> Fault:
    return _fault(f"cannot reach {host}", _reason(error))


def lost(host: str, error: BaseException | str) -> Fault:
    return _fault(f"the connection to {host} was lost", error if isinstance(error, str) else _reason(error))


def _fault(fate: str, why: str) -> Fault:
    fault = Fault(f"{fate}: {why}")
    fault.why = why
    return fault


def _reason(error: BaseException) -> str:
    """What happened to a connection, in words; often the error has none of its own."""
    if isinstance(_root(error), ConnectionRefusedError):
        return "the connection was refused"
    # The system's own words, without its number for them.
    words = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    if told := faults.one_line(words):
        return told
    return "it took too long" if isinstance(error, TimeoutError) else "it was reset"


def _root(error: BaseException) -> BaseException:
    """What the operating system said; with several addresses, of the last one."""
    while cause := error.__cause__ or error.__context__:
        error = cause
    return error.exceptions[-1] if isinstance(error, BaseExceptionGroup) else error
