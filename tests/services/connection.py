"""One HTTP/1.1 connection that can stall, break off or be reset at an exact byte of an answer's body."""

import asyncio
import socket
import struct
from collections.abc import Iterable, Iterator
from http.client import responses
from typing import Literal

from msgspec import Struct

from tests.services.script import NO_FAULT, Fault
from tests.services.wire.frames import Answer


class Incoming(Struct, frozen=True):
    """A request off the wire, header names in lower case."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


class Connection:
    """Reads requests and sends answers until one side ends it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # With no write buffer, `drain` returns when the kernel has the bytes: a reset loses none of them.
        writer.transport.set_write_buffer_limits(high=0)
        self._reader = reader
        self._writer = writer

    async def read(self) -> Incoming | None:
        """The next request, or None when the client has closed."""
        try:
            head = await self._reader.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        first, *lines = head.decode("latin-1").rstrip("\r\n").split("\r\n")
        method, target, _ = first.split(" ")
        pairs = (line.split(":", 1) for line in lines)
        headers = {name.strip().lower(): value.strip() for name, value in pairs}
        body = await self._reader.readexactly(int(headers.get("content-length", "0")))
        return Incoming(method, target.split("?")[0], headers, body)

    async def send(self, answer: Answer, fault: Fault = NO_FAULT) -> bool:
        """Sends as much of the answer as the fault allows; False when the connection is at its end."""
        if fault.delay:
            await self._wait_for_hang_up(fault.delay)
        match fault:
            case Fault(end="cut" | "reset" | "stall" as end, after_bytes=None, after_events=None):
                return await self._end(end)
            case Fault(end="cut" | "reset" | "stall" as end):
                await self._send_body(answer, until(answer.body, fault))
                return await self._end(end)
            case _:
                await self._send_body(answer, until(answer.body, NO_FAULT))
        if not isinstance(answer.body, bytes):
            await self._write(b"0\r\n\r\n")
        return True

    async def _send_body(self, answer: Answer, parts: Iterable[bytes]) -> None:
        await self._write(_head(answer))
        for part in parts:
            framed = part if isinstance(answer.body, bytes) else b"%x\r\n%b\r\n" % (len(part), part)
            await self._write(framed)

    async def _write(self, data: bytes) -> None:
        self._writer.write(data)
        await self._writer.drain()
        # drain does not yield while the kernel takes everything: an endless answer would starve the loop.
        await asyncio.sleep(0)

    async def _end(self, end: Literal["cut", "reset", "stall"]) -> bool:
        match end:
            case "cut":
                self._writer.close()
            case "reset":
                # Lingering for 0 seconds makes the kernel send RST where it would send FIN.
                linger = struct.pack("ii", 1, 0)
                self._writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self._writer.transport.abort()
            case "stall":
                await self._wait_for_hang_up(None)
        return False

    async def _wait_for_hang_up(self, seconds: float | None) -> None:
        """Waits so long; raises if the client closes meanwhile, for it sends nothing while it waits."""
        try:
            async with asyncio.timeout(seconds):
                await self._reader.read(1)
        except TimeoutError:
            return
        raise ConnectionResetError("the client hung up")


def until(body: bytes | Iterator[bytes], fault: Fault) -> Iterator[bytes]:
    """The parts of the body that go out before the fault ends it."""
    sent = 0
    for number, part in enumerate([body] if isinstance(body, bytes) else body):
        if fault.after_events is not None and number >= fault.after_events:
            return
        if fault.after_bytes is not None and sent + len(part) >= fault.after_bytes:
            if rest := part[: fault.after_bytes - sent]:
                yield rest
            return
        sent += len(part)
        if part:
            yield part


def _head(answer: Answer) -> bytes:
    reason = responses.get(answer.status, "")
    if isinstance(answer.body, bytes):
        length = {"content-length": str(len(answer.body))}
    else:
        length = {"transfer-encoding": "chunked"}
    lines = [f"{name}: {value}\r\n" for name, value in {**answer.headers, **length}.items()]
    return f"HTTP/1.1 {answer.status} {reason}\r\n{''.join(lines)}\r\n".encode("latin-1")
