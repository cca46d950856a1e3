"""Answers as servers really send them, on connections that are used again, left early, or cut."""

import asyncio
import gzip
import zlib
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

import pytest

from hermes.models.direct import Direct
from hermes.models.exchange import Fault, Request
from hermes.protocol.errors import BadRequest

LENGTH = b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello"
CHUNKED = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nhe\r\n3;x=y\r\nllo\r\n0\r\nafter: all\r\n\r\n"
UNTIL_CLOSED = b"HTTP/1.1 200 OK\r\n\r\nhello"

Talk = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Coroutine[None, None, None]]


class Server:
    """Answers each request with the next of its texts, piece by piece; an empty one closes the connection."""

    def __init__(self, *answers: bytes, size: int = 1 << 16) -> None:
        self.answers = list(answers)
        self.size = size
        self.bodies: list[bytes] = []
        self.connections = 0

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        while self.answers:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            self.bodies.append(await reader.readexactly(length))
            answer = self.answers.pop(0)
            for start in range(0, len(answer), self.size):
                writer.write(answer[start : start + self.size])
                await writer.drain()
                await asyncio.sleep(0)
            if answer in (b"", UNTIL_CLOSED):
                return


@asynccontextmanager
async def serving(talk: Talk) -> AsyncIterator[str]:
    busy: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        busy.add(task)
        try:
            await talk(reader, writer)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            return  # The client hung up, or the test is over.
        finally:
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1?a=b"
    finally:
        server.close()
        for task in busy:
            task.cancel()
        await asyncio.gather(*busy, return_exceptions=True)


@asynccontextmanager
async def dialling(*, keep: float = 60) -> AsyncIterator[Direct]:
    direct = Direct(tls=None, keep=keep)
    try:
        yield direct
    finally:
        await direct.close()


async def post(direct: Direct, url: str, body: bytes = b"x") -> bytes:
    """The whole answer."""
    answer = await direct.ask(Request(url=url, body=body))
    try:
        said = b""
        while piece := await answer.read():
            said += piece
        assert await answer.read() == b""
    finally:
        await answer.close()
    return said


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
async def test_an_answer_is_read_in_each_of_its_forms_and_a_connection_used_as_long_as_it_can_be(size: int):
    server = Server(LENGTH, CHUNKED, UNTIL_CLOSED, LENGTH, size=size)
    async with serving(server) as url, dialling() as direct:
        told = [await post(direct, url, body) for body in (b"1", b"22", b"", b"4" * 3_000_000)]
    assert told == [b"hello"] * 4
    assert server.bodies == [b"1", b"22", b"", b"4" * 3_000_000]
    assert server.connections == 2


async def test_what_is_only_on_the_way_is_passed_over():
    server = Server(b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + LENGTH)
    async with serving(server) as url, dialling() as direct:
        assert await post(direct, url, b"x") == b"hello"


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (b"", "the other side disconnected without an answer"),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", "illegal status line"),
        (b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", "."),
        (b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n", "bad Content-Length"),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000, "Receive buffer too long"),
    ],
)
async def test_what_is_no_answer_is_a_fault(answer: bytes, why: str):
    async with serving(Server(answer)) as url, dialling() as direct:
        with pytest.raises(Fault, match=rf"^[^:]*127\.0\.0\.1:\d+[^:]*: {why}"):
            await post(direct, url)


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
@pytest.mark.parametrize(("name", "pack"), [("gzip", gzip.compress), ("deflate", zlib.compress)])
async def test_an_answer_that_comes_packed_all_the_same_is_unpacked(
    name: str, pack: Callable[[bytes], bytes], size: int
):
    packed = pack(b"hello")
    head = f"HTTP/1.1 200 OK\r\ncontent-encoding: {name}\r\ncontent-length: {len(packed)}\r\n\r\n"
    async with serving(Server(head.encode() + packed, size=size)) as url, dialling() as direct:
        assert await post(direct, url) == b"hello"


async def test_what_is_packed_badly_is_a_fault():
    head = b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 5\r\n\r\nhello"
    async with serving(Server(head)) as url, dialling() as direct:
        with pytest.raises(Fault, match="incorrect header check"):
            await post(direct, url)


async def test_what_came_before_a_fault_is_heard_first():
    async with serving(Server(CHUNKED[:-18] + b"nonsense\r\n")) as url, dialling() as direct:
        answer = await direct.ask(Request(url=url, body=b"x"))
        assert await answer.read() == b"hello"
        for _ in range(2):
            with pytest.raises(Fault, match="malformed chunk footer"):
                await answer.read()
        await answer.close()


async def test_a_name_and_a_password_in_the_address_are_sent_as_such():
    heads: list[bytes] = []

    async def noting(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(LENGTH)

    async with serving(noting) as url, dialling() as direct:
        assert await post(direct, url.replace("127", "me:a%40b@127"), b"") == b"hello"
    assert b"\r\nauthorization: Basic bWU6YUBi\r\n" in heads[0]
    assert heads[0].startswith(b"POST /v1?a=b HTTP/1.1\r\nhost: 127.0.0.1:")


async def test_headers_that_cannot_be_sent_are_the_askers_fault():
    async with serving(Server(LENGTH)) as url, dialling() as direct:
        for value in ("a\nb: c", "\N{SNOWMAN}"):
            with pytest.raises(BadRequest, match="is no request"):
                await direct.ask(Request(url=url, headers={"x": value}))


async def test_an_answer_that_is_cut_is_an_error_and_the_next_request_dials_anew():
    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(CHUNKED[:-9])

    async with dialling() as direct:
        async with serving(cut) as url:
            with pytest.raises(Fault, match="closed connection"):
                await post(direct, url, b"")
        server = Server(LENGTH)
        async with serving(server) as url:
            assert await post(direct, url, b"") == b"hello"


async def test_an_answer_that_is_left_early_takes_its_connection_along():
    server = Server(CHUNKED + b"x" * 10, LENGTH)
    async with serving(server) as url, dialling() as direct:
        answer = await direct.ask(Request(url=url, body=b"1"))
        assert answer.status == 200
        await answer.close()
        assert await post(direct, url, b"2") == b"hello"
    assert server.connections == 2


async def test_a_connection_that_the_server_has_closed_or_that_rested_too_long_is_not_used():
    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await Server(LENGTH)(reader, writer)

    async with serving(once) as url, dialling() as direct:
        for _ in range(3):
            assert await post(direct, url, b"x") == b"hello"
            await asyncio.sleep(0.01)
    server = Server(LENGTH, LENGTH)
    async with serving(server) as url, dialling(keep=0) as direct:
        for _ in range(2):
            assert await post(direct, url, b"x") == b"hello"
    assert server.connections == 2


async def test_a_server_that_answers_before_it_has_heard_all_is_heard():
    async def impatient(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        while await reader.read(1 << 16):
            continue

    async with serving(impatient) as url, dialling() as direct:
        assert (await direct.ask(Request(url=url, body=b"x" * 20_000_000))).status == 413


async def test_a_host_that_does_not_listen_is_given_up():
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    async with serving(silent) as url, dialling() as direct:
        with pytest.raises(Fault, match="was lost: it took too long"):
            await direct.ask(Request(url=url, body=b"x" * 50_000_000, write=0.05))


@pytest.mark.parametrize(
    ("host", "why"),
    [
        ("127.0.0.1:1", "the connection was refused"),
        ("no-such-host.invalid", r"\w+ .* known"),
        ("a" * 70 + ".test", "encoding with 'idna' codec failed"),
    ],
)
async def test_a_host_that_cannot_be_reached_is_a_fault(host: str, why: str):
    async with dialling() as direct:
        with pytest.raises(Fault, match=f"^cannot reach {host}: {why}"):
            await direct.ask(Request(url=f"http://{host}/v1"))
