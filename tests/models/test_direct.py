"""Answers as servers really send them, on connections that are used again, left early, or cut."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager

import httpx2
import pytest

from hermes.models.direct import DirectTransport

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


def client(*, keep: float = 60, timeout: httpx2.Timeout | None = None) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=DirectTransport(tls=None, keep=keep), timeout=timeout, trust_env=False)


@pytest.mark.parametrize("size", [1, 7, 1 << 16])
async def test_an_answer_is_read_in_each_of_its_forms_and_a_connection_used_as_long_as_it_can_be(size: int):
    server = Server(LENGTH, CHUNKED, UNTIL_CLOSED, LENGTH, size=size)
    async with serving(server) as url, client() as http:
        told = [(await http.post(url, content=body)).text for body in (b"1", b"22", b"", b"4" * 3_000_000)]
    assert told == ["hello"] * 4
    assert server.bodies == [b"1", b"22", b"", b"4" * 3_000_000]
    assert server.connections == 2


async def test_what_is_only_on_the_way_is_passed_over():
    server = Server(b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" + LENGTH)
    async with serving(server) as url, client() as http:
        assert (await http.post(url, content=b"x")).text == "hello"


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        (b"", httpx2.RemoteProtocolError),
        (b"SSH-2.0-OpenSSH_9.2\r\n\r\n", httpx2.RemoteProtocolError),
        (b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n", httpx2.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\ncontent-length: x\r\n\r\n", httpx2.RemoteProtocolError),
        (b"HTTP/1.1 200 OK\r\nx: " + b"y" * 200_000, httpx2.RemoteProtocolError),
    ],
)
async def test_what_is_no_answer_is_an_error(answer: bytes, error: type[Exception]):
    async with serving(Server(answer)) as url, client() as http:
        with pytest.raises(error):
            await http.post(url, content=b"x")


async def test_an_answer_that_is_cut_is_an_error_and_the_next_request_dials_anew():
    async def cut(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(CHUNKED[:-9])

    async with client() as http:
        async with serving(cut) as url:
            with pytest.raises(httpx2.RemoteProtocolError):
                await http.post(url, content=b"")
        server = Server(LENGTH)
        async with serving(server) as url:
            assert (await http.post(url, content=b"")).text == "hello"


async def test_an_answer_that_is_left_early_takes_its_connection_along():
    server = Server(CHUNKED + b"x" * 10, LENGTH)
    async with serving(server) as url, client() as http:
        async with http.stream("POST", url, content=b"1") as response:
            assert response.status_code == 200
        assert (await http.post(url, content=b"2")).text == "hello"
    assert server.connections == 2


async def test_a_connection_that_the_server_has_closed_or_that_rested_too_long_is_not_used():
    async def once(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await Server(LENGTH)(reader, writer)

    async with serving(once) as url, client() as http:
        for _ in range(3):
            assert (await http.post(url, content=b"x")).text == "hello"
            await asyncio.sleep(0.01)
    server = Server(LENGTH, LENGTH)
    async with serving(server) as url, client(keep=0) as http:
        for _ in range(2):
            assert (await http.post(url, content=b"x")).text == "hello"
    assert server.connections == 2


async def test_a_server_that_answers_before_it_has_heard_all_is_heard():
    async def impatient(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 413 Too Large\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
        await writer.drain()
        while await reader.read(1 << 16):
            continue

    async with serving(impatient) as url, client() as http:
        assert (await http.post(url, content=b"x" * 20_000_000)).status_code == 413


async def test_each_wait_has_an_end():
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(60)

    short = httpx2.Timeout(5, read=0.05, write=0.05)
    async with serving(silent) as url, client(timeout=short) as http:
        with pytest.raises(httpx2.ReadTimeout):
            await http.post(url, content=b"x")
        with pytest.raises(httpx2.WriteTimeout):
            await http.post(url, content=b"x" * 50_000_000)


@pytest.mark.parametrize("host", ["127.0.0.1:1", "no-such-host.invalid", "a" * 70 + ".test"])
async def test_a_host_that_cannot_be_reached_is_an_error(host: str):
    async with client() as http:
        with pytest.raises(httpx2.ConnectError):
            await http.post(f"http://{host}/v1", content=b"")
    async with client() as http:
        with pytest.raises(httpx2.UnsupportedProtocol):
            await http.post("ftp://127.0.0.1/v1", content=b"")
