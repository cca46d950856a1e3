"""A model at a vendor's address: one dialect, one URL, one key."""

import asyncio
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Literal

import msgspec
from msgspec import Struct, field

from hermes import __version__
from hermes.models import dialects, faults
from hermes.models.answer import joined
from hermes.models.decoder import Decoder
from hermes.models.dump import Dump
from hermes.models.exchange import Answer, Fault, Request, address
from hermes.models.memo import Memo
from hermes.models.pool import Pool
from hermes.models.prices import Prices, cost_of
from hermes.models.quirks import Quirks
from hermes.protocol.errors import AuthFailed, Disconnected, ModelError
from hermes.protocol.models import Began, Delta, Finished, Grew, ModelRequest

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
            answer = await self._answer(dialect, body, dump)
            try:
                hearing = _Hearing(answer, dialect.decoder(), self.patience, self._host, dump)
                while not hearing.finished:
                    for delta in await hearing.more():
                        if isinstance(delta, Finished):
                            await hearing.drain()
                            delta = self._priced(delta)
                        yield delta
            finally:
                await answer.close()
        finally:
            if dump:
                dump.close()

    def __repr__(self) -> str:
        return f"Endpoint({self.name!r}, {self.url!r})"

    async def _answer(self, dialect: dialects.Dialect, body: bytes, dump: Dump | None) -> Answer:
        """The answer once it has begun with a 2xx; anything else is raised."""
        if dump:
            dump.sent(body)
        url, wait = dialect.url(self.url), self.patience
        request = Request(
            url=url, headers=self._headers(dialect, url), body=body, connect=wait.connect, write=wait.between
        )
        try:
            async with asyncio.timeout(wait.first):
                answer = await self.pool.ask(request)
        except TimeoutError as error:
            raise _silent(self._host, wait.first) from error
        if dump:
            dump.answered(answer.status, answer.headers)
        if 200 <= answer.status < 300:
            return answer
        try:
            raise await self._refusal(answer, dump)
        finally:
            await answer.close()

    def _headers(self, dialect: dialects.Dialect, url: str) -> Mapping[str, str]:
        where = address(url)
        home = address(self.key_for) if self.key_for else where
        if self.key and where.origin != home.origin:
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

    async def _refusal(self, answer: Answer, dump: Dump | None) -> ModelError:
        body = bytearray()
        # What came until then is enough to tell which error it is.
        with suppress(Fault, TimeoutError):
            async with asyncio.timeout(self.patience.between):
                while len(body) < LONGEST_REFUSAL and (piece := await answer.read()):
                    body += piece
                    if dump:
                        dump.received(piece)
        said = bytes(body[:LONGEST_REFUSAL])
        if self.key:
            said = said.replace(self.key.encode(), b"***")
        return faults.classify(answer.status, answer.headers, said)

    def _priced(self, finished: Finished) -> Finished:
        cost, tokens = finished.cost, finished.tokens
        if cost is None and self.prices and (tokens.input or tokens.output):
            cost = cost_of(tokens, self.prices)
        return Finished(finished.reason, tokens, self.name, cost)

    @property
    def _host(self) -> str:
        return self.url.partition("://")[2].partition("/")[0].rpartition("@")[2] or self.url


class _Hearing:
    """Takes an answer in as it comes, and knows how long its next byte may take."""

    def __init__(self, answer: Answer, decoder: Decoder, patience: Patience, host: str, dump: Dump | None) -> None:
        self.finished = False
        self._answer = answer
        self._decoder = decoder
        self._patience = patience
        self._host = host
        self._dump = dump
        self._now = asyncio.get_running_loop().time
        self._heard = self._now()
        self._limit = patience.first
        self._thoughts: set[int] = set()

    async def more(self) -> list[Delta]:
        """The deltas of what has come next; the last of all is Finished."""
        try:
            async with asyncio.timeout(self._limit):
                piece = await self._answer.read()
        except TimeoutError as error:
            raise _silent(self._host, self._limit) from error
        except Fault as fault:
            return self._last(fault)
        if not piece:
            return self._last(None)
        if self._dump:
            self._dump.received(piece)
        deltas = joined(self._decoder.feed(piece))
        self._note(deltas)
        return deltas

    async def drain(self) -> None:
        """Let the server end its answer in good form, so that its connection can be used again."""
        with suppress(TimeoutError, Fault):
            async with asyncio.timeout(DRAIN):
                while await self._answer.read():
                    continue

    def _last(self, fault: Fault | None) -> list[Delta]:
        """A connection that breaks behind the finish reason took nothing away."""
        self.finished = True
        try:
            return self._decoder.close()
        except Disconnected:
            if fault is None:
                raise
            raise fault from None

    def _note(self, deltas: list[Delta]) -> None:
        now = self._now()
        if deltas:
            self._heard = now
        elif now - self._heard > self._patience.idle:
            raise Disconnected(f"{self._host} sent only signs of life for {self._patience.idle:.0f} s")
        for delta in deltas:
            if isinstance(delta, Began) and delta.kind == "thought":
                self._thoughts.add(delta.index)
            elif isinstance(delta, Grew) and delta.index not in self._thoughts:
                self._limit = self._patience.between
            elif isinstance(delta, Finished):
                self.finished = True


def _silent(host: str, seconds: float) -> Disconnected:
    return Disconnected(f"{host} sent nothing for {seconds:.0f} s")
