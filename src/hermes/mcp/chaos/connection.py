"""One HTTP/1.1 connection that can answer, stream, stop half-way or be reset."""

import asyncio
import socket
import struct
from http import HTTPStatus
from typing import Any

import msgspec
from msgspec import Struct

JSON = "application/json"
EVENTS = "text/event-stream"


class Head(Struct, frozen=True):
    """The first lines of a request, header names in lower case."""

    verb: str
    path: str
    headers: dict[str, str]


class Connection:
    """Takes one request after the other; the caller keeps the order."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.streaming = False
        self._reader = reader
        self._writer = writer

    async def read_head(self) -> Head | None:
        """The next request's head, or None when the client has closed."""
        try:
            lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        except asyncio.IncompleteReadError:
            return None
        verb, target, _ = lines[0].split(" ")
        pairs = (line.split(":", 1) for line in lines[1:] if line)
        return Head(verb, target.split("?")[0], {name.strip().lower(): value.strip() for name, value in pairs})

    async def read_body(self, head: Head) -> bytes:
        return await self._reader.readexactly(int(head.headers.get("content-length", "0")))

    async def send(
        self, status: int, body: bytes = b"", *, kind: str = JSON, headers: dict[str, str] | None = None
    ) -> None:
        await self._write(_head(status, kind, {"content-length": str(len(body))} | (headers or {})) + body)

    async def send_half(self, status: int, body: bytes, *, kind: str = JSON) -> None:
        """The head and half of the body that it promises."""
        await self._write(_head(status, kind, {"content-length": str(len(body))}) + body[: len(body) // 2])

    async def open_stream(self, headers: dict[str, str] | None = None) -> None:
        self.streaming = True
        await self._write(
            _head(200, EVENTS, {"transfer-encoding": "chunked", "cache-control": "no-cache"} | (headers or {}))
        )

    async def send_event(self, message: Any) -> None:
        event = sse(message)
        await self._write(b"%x\r\n%b\r\n" % (len(event), event))

    async def send_half_event(self, message: Any) -> None:
        event = sse(message)
        await self._write(b"%x\r\n%b" % (len(event), event[: len(event) // 2]))

    async def close_stream(self) -> None:
        self.streaming = False
        await self._write(b"0\r\n\r\n")

    async def hang_up(self) -> None:
        """Returns when the client has closed; it must have nothing to say before that."""
        if await self._reader.read(1):
            raise ConnectionAbortedError("the client spoke out of turn")

    def reset(self) -> None:
        # Lingering for 0 seconds makes the kernel send RST where it would send FIN.
        linger = struct.pack("ii", 1, 0)
        if not self._writer.transport.is_closing():
            self._writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self._writer.transport.abort()

    def close(self) -> None:
        self._writer.close()

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()


def sse(message: Any) -> bytes:
    return b"event: message\ndata: " + msgspec.json.encode(message) + b"\n\n"


def _head(status: int, kind: str, headers: dict[str, str]) -> bytes:
    lines = [f"{name}: {value}\r\n" for name, value in ({"content-type": kind} | headers).items()]
    return f"HTTP/1.1 {status} {HTTPStatus(status).phrase}\r\n{''.join(lines)}\r\n".encode("latin-1")
