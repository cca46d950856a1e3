"""A server of the oldest HTTP transport: answers come on one long GET stream, requests are POSTed to the address it names."""

import asyncio
from typing import Self
from urllib.parse import parse_qs, urlsplit

import msgspec

from hermes.mcp.chaos.answers import Answers
from hermes.mcp.chaos.call import Call, Peer
from hermes.mcp.chaos.ledger import Ledger


class SseServer:
    """Counts as the fault server does. `forget` loses every session but not its stream; `hang_up` cuts the streams."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.refuse_next = 0
        self._answers = Answers("old", self.ledger)
        self._streams: dict[str, asyncio.StreamWriter] = {}
        self._known: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._listener.sockets[0].getsockname()[1]}/sse"
        return self

    async def __aexit__(self, *_: object) -> None:
        self._listener.close()
        for writer in self._writers:
            writer.transport.abort()
        for task in self._tasks:
            task.cancel()
        await asyncio.sleep(0.01)

    def forget(self) -> None:
        self._known.clear()

    def hang_up(self) -> None:
        for writer in self._streams.values():
            writer.transport.abort()
        self._streams.clear()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            while True:
                lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                verb, target, _ = lines[0].split(" ")
                headers = {
                    name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])
                }
                body = await reader.readexactly(int(headers.get("content-length", "0")))
                if verb == "GET":
                    return await self._open(reader, writer)
                writer.write(f"HTTP/1.1 {self._take(target, body)} .\r\ncontent-length: 0\r\n\r\n".encode())
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            return
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _open(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        session = str(len(self._streams) + 1) + writer.get_extra_info("peername")[1].__str__()
        self._streams[session] = writer
        self._known.add(session)
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\n")
        writer.write(f"event: endpoint\ndata: /message?session_id={session}\n\n".encode())
        await reader.read()

    def _take(self, target: str, body: bytes) -> int:
        [session] = parse_qs(urlsplit(target).query)["session_id"]
        message = msgspec.json.decode(body, type=dict)
        self.ledger.note("request", message.get("method", "response"))
        if session not in self._known:
            return 404
        if self.refuse_next:
            status, self.refuse_next = self.refuse_next, 0
            return status
        if "id" in message:
            task = asyncio.create_task(self._answer(session, message))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
        return 202

    async def _answer(self, session: str, message: dict[str, object]) -> None:
        async def tell(message: object) -> None:
            if writer := self._streams.get(session):
                writer.write(b"event: message\ndata: " + msgspec.json.encode(message) + b"\n\n")

        await tell(await self._answers.answer(Call(message, tell, Peer())))
