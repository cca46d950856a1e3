"""A model at a vendor's address: one dialect, one URL, one key."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import aclosing, asynccontextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct, field

from hermes import __version__
from hermes.models import dialects, faults
from hermes.models.answer import joined
from hermes.models.decoder import Decoder
from hermes.models.dump import Dump
from hermes.models.memo import Memo
from hermes.models.pool import Pool
from hermes.models.prices import Prices, cost_of
from hermes.models.quirks import Quirks
from hermes.protocol.errors import AuthFailed, BadRequest, Disconnected, ModelError
from hermes.protocol.models import Began, Delta, Finished, Grew, ModelRequest

if TYPE_CHECKING:
    import httpx2

LONGEST_REFUSAL = 64 << 10
"""Bytes that are read of an error's body."""
DRAIN = 0.25
"""Seconds that a server gets to end a response in good form, so that its connection can be used again."""


class Patience(Struct, frozen=True, kw_only=True):
    """After how many seconds a call is given up as lost."""

    connect: float = 10.0
    first: float = 300.0
    """Without a byte until the first words have come: models think for minutes without a sign of it."""
    between: float = 120.0
    """Without a byte after that. Not less: some vendors hold a tool call back until all of it is there."""
    idle: float = 900.0
    """With nothing but signs of life, which a proxy sends also for a model that is gone."""


class Endpoint(Struct, frozen=True, kw_only=True):
    """A `Model` that is reached over HTTP; `name` is provider:model, `model` the vendor's own name for it.

    The key is sent only if `url` has the origin of `key_for`, the address of the vendor that the key was made by;
    empty stands for a key that belongs to this very endpoint. With `dump`, each call leaves two files in that folder.
    """

    name: str
    model: str
    dialect: str
    url: str
    pool: Pool
    window: int
    profile: Literal["full", "small"] = "full"
    key: str = ""
    key_for: str = ""
    max_output: int | None = None
    """The output cap where a request names none."""
    quirks: Quirks = Quirks()
    prices: Prices | None = None
    patience: Patience = Patience()
    dump: Path | None = None
    memo: Memo = field(default_factory=Memo)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[Delta, None]:
        """Answer; every failure of the call is a ModelError, and closing early closes the connection."""
        dialect = dialects.load(self.dialect)
        asked = msgspec.structs.replace(request, max_output=request.max_output or self.max_output)
        body = dialect.encode(asked, model=self.model, name=self.name, quirks=self.quirks, memo=self.memo)
        dump = Dump(self.dump, self.key) if self.dump else None
        try:
            async with (
                self._response(dialect, body, dump) as response,
                aclosing(response.aiter_bytes()) as chunks,
                aclosing(self._batches(chunks, dialect.decoder(), dump)) as batches,
            ):
                async for deltas in batches:
                    for delta in deltas:
                        yield self._priced(delta) if isinstance(delta, Finished) else delta
        finally:
            if dump:
                dump.close()

    def __repr__(self) -> str:
        return f"Endpoint({self.name!r}, {self.url!r})"

    @asynccontextmanager
    async def _response(
        self, dialect: dialects.Dialect, body: bytes, dump: Dump | None
    ) -> "AsyncIterator[httpx2.Response]":
        """The response once it has begun with a 2xx; anything else is raised."""
        import httpx2

        if dump:
            dump.sent(body)
        url = dialect.url(self.url)
        client = self.pool.client(url)
        wait = self.patience
        limits = httpx2.Timeout(connect=wait.connect, write=wait.between, read=None, pool=None)
        try:
            where = _address(url)
            request = client.build_request(
                "POST", where, content=body, headers=self._headers(dialect, where), timeout=limits
            )
            async with asyncio.timeout(wait.first):
                response = await client.send(request, stream=True)
        except TimeoutError as error:
            raise self._silent(wait.first) from error
        except (httpx2.InvalidURL, httpx2.UnsupportedProtocol) as error:
            raise BadRequest(f"{self.url} is no web address: set base_url") from error
        except (httpx2.ConnectError, httpx2.ConnectTimeout) as error:
            raise Disconnected(f"cannot reach {self._host}: {_reason(error)}") from error
        except httpx2.HTTPError as error:
            raise Disconnected(f"the connection to {self._host} was lost: {_reason(error)}") from error
        try:
            if dump:
                dump.answered(response.status_code, response.headers)
            if not response.is_success:
                raise await self._refusal(response, dump)
            yield response
        finally:
            await response.aclose()

    def _headers(self, dialect: dialects.Dialect, where: "httpx2.URL") -> Mapping[str, str]:
        home = _address(self.key_for) if self.key_for else where
        if self.key and (where.scheme, where.host, where.port) != (home.scheme, home.host, home.port):
            raise AuthFailed(f"the key for {home.host} is not sent to {where.host}: set a key of its own")
        if not (self.key.isascii() and self.key.isprintable() and " " not in self.key):
            raise AuthFailed(f"the key for {where.host} has characters that no key has: set it anew")
        return {
            "content-type": "application/json",
            "accept": "text/event-stream",
            "accept-encoding": "identity",
            "user-agent": f"hermes/{__version__}",
            **dialect.headers(self.key),
            **self.quirks.headers,
        }

    async def _refusal(self, response: "httpx2.Response", dump: Dump | None) -> ModelError:
        import httpx2

        body = bytearray()
        # What came until then is enough to tell which error it is.
        with suppress(httpx2.HTTPError, TimeoutError):
            async with asyncio.timeout(self.patience.between):
                async with aclosing(response.aiter_bytes()) as chunks:
                    async for chunk in chunks:
                        body += chunk
                        if dump:
                            dump.received(chunk)
                        if len(body) >= LONGEST_REFUSAL:
                            break
        said = bytes(body[:LONGEST_REFUSAL])
        if self.key:
            said = said.replace(self.key.encode(), b"***")
        return faults.classify(response.status_code, response.headers, said)

    async def _batches(
        self, chunks: AsyncGenerator[bytes, None], decoder: Decoder, dump: Dump | None
    ) -> AsyncGenerator[list[Delta], None]:
        """The deltas of each piece of the response."""
        import httpx2

        now = asyncio.get_running_loop().time
        progress = _Progress(self.patience, now())
        while not progress.finished:
            try:
                async with asyncio.timeout(progress.limit):
                    chunk = await anext(chunks, None)
            except TimeoutError as error:
                raise self._silent(progress.limit) from error
            except httpx2.HTTPError as error:
                yield self._last(decoder, error)
                return
            if chunk is None:
                yield decoder.close()
                return
            if dump:
                dump.received(chunk)
            deltas = joined(decoder.feed(chunk))
            if not progress.note(deltas, now()):
                raise Disconnected(f"{self._host} sent only signs of life for {self.patience.idle:.0f} s")
            if progress.finished:
                yield deltas[:-1]
                await _drain(chunks)
                yield deltas[-1:]
            else:
                yield deltas

    def _last(self, decoder: Decoder, error: Exception) -> list[Delta]:
        """A connection that breaks behind the finish reason took nothing away."""
        try:
            return decoder.close()
        except Disconnected:
            raise Disconnected(f"the connection to {self._host} was lost: {_reason(error)}") from error

    def _priced(self, finished: Finished) -> Finished:
        cost, tokens = finished.cost, finished.tokens
        if cost is None and self.prices and (tokens.input or tokens.output):
            cost = cost_of(tokens, self.prices)
        return Finished(finished.reason, tokens, self.name, cost)

    def _silent(self, seconds: float) -> Disconnected:
        return Disconnected(f"{self._host} sent nothing for {seconds:.0f} s")

    @property
    def _host(self) -> str:
        return self.url.partition("://")[2].partition("/")[0].rpartition("@")[2] or self.url


class _Progress:
    """How far an answer has come, and so how long its next byte may take."""

    def __init__(self, patience: Patience, now: float) -> None:
        self.finished = False
        self.limit = patience.first
        self._patience = patience
        self._heard = now
        self._thoughts: set[int] = set()

    def note(self, deltas: list[Delta], now: float) -> bool:
        """Take in what has come; False if it is long ago that anything did."""
        if deltas:
            self._heard = now
        for delta in deltas:
            if isinstance(delta, Began) and delta.kind == "thought":
                self._thoughts.add(delta.index)
            elif isinstance(delta, Grew) and delta.index not in self._thoughts:
                self.limit = self._patience.between
            elif isinstance(delta, Finished):
                self.finished = True
        return now - self._heard <= self._patience.idle


@lru_cache(64)
def _address(url: str) -> "httpx2.URL":
    import httpx2

    return httpx2.URL(url)


async def _drain(chunks: AsyncIterator[bytes]) -> None:
    import httpx2

    with suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(DRAIN):
            async for _ in chunks:
                continue


def _reason(error: Exception) -> str:
    """What happened to a connection, in words; httpx2 often has none of its own."""
    import httpx2

    if isinstance(error, httpx2.ConnectError) and isinstance(_root(error), ConnectionRefusedError):
        return "the connection was refused"
    if told := faults.one_line(str(error)):
        return told
    return "it took too long" if isinstance(error, httpx2.TimeoutException) else "it was reset"


def _root(error: BaseException) -> BaseException:
    """What the operating system said; with several addresses, of the last one."""
    while cause := error.__cause__ or error.__context__:
        error = cause
    return error.exceptions[-1] if isinstance(error, BaseExceptionGroup) else error
