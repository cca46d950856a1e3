"""A model API on loopback that says what a script tells it, in three dialects, and refuses what a provider would.

In a test:

    async with ModelServer([call("read_file", path="a.txt"), Reply("It says hello.")]) as server:
        ...  # point the client at server.base_url
    assert server.violations == []

From outside, printing its URL on one line when it is ready (without a script it echoes):

    python -m tests.services.model_server [--script FILE.json] [--port N] [--log FILE]

Each model request takes the next reply of the script. A request that a provider would refuse gets a 400 in the
vendor's form, takes no reply and is noted in `violations`.
"""

import argparse
import asyncio
import inspect
import secrets
import signal
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Self

import msgspec
from msgspec.structs import replace

from tests.services import rules, wire
from tests.services.connection import Connection, Incoming
from tests.services.request import Request
from tests.services.script import ECHO, NO_FAULT, Fault, Reply, Script, read_script
from tests.services.wire import errors
from tests.services.wire.frames import CREATED, Answer, Asked, Dialect

Answerer = Callable[[Request], Reply | Awaitable[Reply]]

JSON = {"content-type": "application/json"}
EVENTS = {"content-type": "text/event-stream; charset=utf-8", "cache-control": "no-cache"}


class ModelServer:
    """Serves a script, a list of replies, or what a function makes of each request (it may be async)."""

    def __init__(
        self,
        script: Script | Sequence[Reply] | Answerer = ECHO,
        *,
        port: int = 0,
        models: Sequence[str] = ("scripted",),
        log: Path | None = None,
    ) -> None:
        self.requests: list[Request] = []
        self.connections = 0
        """How many were ever opened."""
        self._answerer = script if callable(script) else follow(script)
        self._port = port
        self._models = models
        self._log = log
        self._open: set[asyncio.Task[Any]] = set()
        self._arrived = asyncio.Condition()
        self._failure: Exception | None = None
        self._tag = secrets.token_hex(3)
        self._served = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)
        await self._server.wait_closed()
        if self._failure is not None and error is None:
            raise self._failure

    @property
    def url(self) -> str:
        """The server's address without a path."""
        return f"http://127.0.0.1:{self._port}"

    @property
    def base_url(self) -> str:
        """The address as a provider's base URL, with /v1."""
        return f"{self.url}/v1"

    @property
    def last(self) -> Request:
        """The newest request."""
        return self.requests[-1]

    @property
    def violations(self) -> list[str]:
        """Why requests were refused, in order; empty is what a story wants."""
        return [request.violation for request in self.requests if request.violation]

    @property
    def open_connections(self) -> int:
        """How many connections are open now."""
        return len(self._open)

    def prompt_bytes(self, index: int) -> bytes:
        """Tools and system text of one request, to check that the prefix is stable."""
        return self.requests[index].prompt

    async def received(self, count: int) -> Request:
        """Waits until so many requests have arrived, and returns the last of them."""
        async with self._arrived:
            await self._arrived.wait_for(lambda: len(self.requests) >= count)
        return self.requests[count - 1]

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        number = self.connections
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        try:
            # A client may hang up at any moment; that ends its connection and nothing else.
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._converse(Connection(reader, writer), number)
        except asyncio.CancelledError:
            # The server closes: what the client has not read will never be sent.
            writer.transport.abort()
        except Exception as failure:
            # A script that fails is a mistake of the test: it is raised where the server was opened.
            self._failure = self._failure or failure
        finally:
            self._open.discard(task)
            writer.close()

    async def _converse(self, connection: Connection, number: int) -> None:
        while (incoming := await connection.read()) is not None:
            request = await self._record(incoming, number)
            answer, fault = await self._answer(request)
            if not await connection.send(answer, fault) or incoming.headers.get("connection") == "close":
                return

    async def _record(self, incoming: Incoming, connection: int) -> Request:
        request = _read(incoming, connection)
        self.requests.append(request)
        if self._log is not None:
            with self._log.open("ab") as log:
                log.write(msgspec.json.encode(request) + b"\n")
        async with self._arrived:
            self._arrived.notify_all()
        return request

    async def _answer(self, request: Request) -> tuple[Answer, Fault]:
        if request.dialect is None:
            return self._answer_other(request), NO_FAULT
        if request.violation:
            return errors.refusal(request.dialect, request.violation), NO_FAULT
        return await self._answer_model(request, request.dialect)

    async def _answer_model(self, request: Request, dialect: Dialect) -> tuple[Answer, Fault]:
        reply = self._answerer(request)
        if inspect.isawaitable(reply):
            reply = await reply
        if reply.error is not None:
            return errors.answer(dialect, reply.error), reply.fault
        self._served += 1
        asked = _asked(request.body, f"{self._tag}{self._served}")
        if request.body.get("stream") and not reply.fault.as_json:
            return Answer(200, EVENTS, wire.stream(dialect, reply, asked)), reply.fault
        return Answer(200, JSON, wire.body_bytes(dialect, reply, asked)), reply.fault

    def _answer_other(self, request: Request) -> Answer:
        if (request.method, request.path) != ("GET", "/v1/models"):
            message = f"Unknown request URL: {request.method} {request.path}."
            return Answer(404, JSON, msgspec.json.encode({"error": {"message": message, "code": "unknown_url"}}))
        if "anthropic-version" in request.headers:
            dated = {"type": "model", "created_at": "2025-10-09T00:00:00Z"}
            rows = [{**dated, "id": name, "display_name": name} for name in self._models]
            ends = {"has_more": False, "first_id": self._models[0], "last_id": self._models[-1]}
            return Answer(200, JSON, msgspec.json.encode({"data": rows, **ends}))
        owned = {"object": "model", "created": CREATED, "owned_by": "tests"}
        rows = [{"id": name, **owned} for name in self._models]
        return Answer(200, JSON, msgspec.json.encode({"object": "list", "data": rows}))


def follow(script: Script | Sequence[Reply]) -> Answerer:
    """The function that hands out the replies of a script in order."""
    script = script if isinstance(script, Script) else Script(tuple(script))
    replies = iter(script.replies)

    def answer(request: Request) -> Reply:
        reply = next(replies, script.then)
        return reply if isinstance(reply, Reply) else Reply(request.user_text)

    return answer


def _read(incoming: Incoming, connection: int) -> Request:
    """The request with its body decoded and judged."""
    dialect = wire.PATHS.get(incoming.path) if incoming.method == "POST" else None
    request = Request(incoming.method, incoming.path, incoming.headers, None, connection, time.monotonic(), dialect)
    if not incoming.body:
        return replace(request, violation="the body is empty" if dialect else "")
    try:
        body = msgspec.json.decode(incoming.body)
    except msgspec.DecodeError as error:
        return replace(request, violation=f"the body is not JSON: {error}")
    violation = rules.violation(dialect, incoming.headers, body) if dialect else ""
    return replace(request, body=body, violation=violation)


def _asked(body: dict[str, Any], answer_id: str) -> Asked:
    options = body.get("stream_options") or {}
    return Asked(answer_id, body["model"], bool(options.get("include_usage")))


async def serve(script: Script, port: int, log: Path | None) -> None:
    """Runs the server until the process is told to end."""
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    async with ModelServer(script, port=port, log=log) as server:
        print(server.url, flush=True)
        await ended.wait()


def main() -> None:
    """The server as a command."""
    parser = argparse.ArgumentParser(prog="python -m tests.services.model_server", description=serve.__doc__)
    parser.add_argument("--script", type=Path, help="JSON: a list of replies, or {replies, then}; default: echo")
    parser.add_argument("--port", type=int, default=0, help="default: any free one")
    parser.add_argument("--log", type=Path, help="append each request to this file as a JSON line")
    args = parser.parse_args()
    asyncio.run(serve(read_script(args.script) if args.script else ECHO, args.port, args.log))


if __name__ == "__main__":
    main()
