"""The guarded transport against real servers on this machine."""

import asyncio
import gzip
import ssl
import subprocess
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx2
import pytest

from hermes.protocol.errors import Denied, ToolError
from hermes.safety.fetching import GuardedTransport, look_up, read_up_to
from hermes.safety.urls import URLPolicy

OWN = URLPolicy(allow_private=True)


class Server:
    """An HTTP server that keeps the requests it saw and answers each with the next of its answers."""

    def __init__(self, *answers: bytes) -> None:
        self.answers = list(answers)
        self.seen: list[str] = []
        self.names: list[str | None] = []
        self.port = 0

    @asynccontextmanager
    async def running(self, tls: ssl.SSLContext | None = None) -> AsyncIterator["Server"]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, ssl=tls)
        self.port = server.sockets[0].getsockname()[1]
        try:
            yield self
        finally:
            server.close()
            await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            self.seen.append(head)
            answer = self.answers.pop(0)
            if answer == b"stall":
                await reader.read()
            writer.write(answer)
            await writer.drain()
        except ConnectionError:
            return
        finally:
            writer.close()


class Book:
    """A resolver with a list of answers for each host; the last one is given for ever."""

    def __init__(self, **hosts: list[list[str]]) -> None:
        self.hosts = {host.replace("_", "."): answers for host, answers in hosts.items()}
        self.asked: list[str] = []

    async def __call__(self, host: str, port: int) -> Sequence[str]:
        self.asked.append(host)
        answers = self.hosts[host]
        return answers.pop(0) if len(answers) > 1 else answers[0]


def page(body: bytes, headers: str = "", status: str = "200 OK") -> bytes:
    return f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n{headers}\r\n".encode() + body


def client(transport: GuardedTransport) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=transport, follow_redirects=True, trust_env=False)


async def test_a_public_name_that_leads_to_this_machine_is_not_dialled():
    book = Book(shop_example=[["127.0.0.1"]])
    async with Server(page(b"secret")).running() as server, client(GuardedTransport(resolve=book)) as http:
        with pytest.raises(Denied, match=r"private-address: 127.0.0.1 is this machine"):
            await http.get(f"http://shop.example:{server.port}/")
    assert server.seen == []


async def test_one_private_answer_among_public_ones_is_enough_to_refuse():
    book = Book(shop_example=[["93.184.216.34", "10.0.0.1"]])
    async with client(GuardedTransport(resolve=book)) as http:
        with pytest.raises(Denied, match=r"10.0.0.1"):
            await http.get("http://shop.example/")


async def test_the_checked_address_is_dialled_with_the_name_as_host():
    book = Book(shop_example=[["127.0.0.1"], ["169.254.169.254"]])
    async with Server(page(b"hello")).running() as server, client(GuardedTransport(OWN, resolve=book)) as http:
        answer = await http.get(f"http://shop.example:{server.port}/a?b=c")
        assert (answer.status_code, answer.text) == (200, "hello")
        # One look-up for judging and dialling: the second answer, which is private, is never asked for.
        assert book.asked == ["shop.example"]
        assert server.seen[0].startswith("GET /a?b=c HTTP/1.1\r\n")
        assert f"host: shop.example:{server.port}\r\n" in server.seen[0].lower()
        with pytest.raises(Denied, match="credentials"):
            await http.get(f"http://shop.example:{server.port}/")
    assert len(server.seen) == 1


async def test_each_redirect_is_judged_anew():
    book = Book(shop_example=[["127.0.0.1"]], other_example=[["169.254.169.254"]])
    to = page(b"", "Location: http://other.example/\r\n", "302 Found")
    async with Server(to).running() as server, client(GuardedTransport(OWN, resolve=book)) as http:
        with pytest.raises(Denied, match=r"169.254.169.254"):
            await http.get(f"http://shop.example:{server.port}/")
    assert book.asked == ["shop.example", "other.example"]


async def test_a_redirect_to_a_file_is_refused():
    book = Book(shop_example=[["127.0.0.1"]])
    to = page(b"", "Location: file:///etc/passwd\r\n", "302 Found")
    async with Server(to).running() as server, client(GuardedTransport(OWN, resolve=book)) as http:
        with pytest.raises((Denied, httpx2.UnsupportedProtocol)):
            await http.get(f"http://shop.example:{server.port}/")


async def test_the_next_address_is_tried_when_one_does_not_answer():
    book = Book(shop_example=[["127.0.0.2", "127.0.0.1"]])
    async with Server(page(b"here")).running() as server, client(GuardedTransport(OWN, resolve=book)) as http:
        assert (await http.get(f"http://shop.example:{server.port}/")).text == "here"


async def test_an_answer_that_is_too_large_is_cut_off():
    transport = GuardedTransport(OWN, most_bytes=1000)
    async with Server(page(b"x" * 2000)).running() as server, client(transport) as http:
        with pytest.raises(ToolError, match="larger than 1,000 bytes"):
            await http.get(f"http://127.0.0.1:{server.port}/")


async def test_an_answer_that_takes_too_long_is_given_up():
    transport = GuardedTransport(OWN, seconds=0.05)
    async with Server(b"stall", page(b"x" * 10)[:-5]).running() as server, client(transport) as http:
        with pytest.raises(httpx2.TimeoutException, match=r"0.05 seconds"):
            await http.get(f"http://127.0.0.1:{server.port}/")


async def test_a_packed_body_is_read_only_as_far_as_asked():
    packed = gzip.compress(bytes(5_000_000))
    async with Server(page(packed, "Content-Encoding: gzip\r\n")).running() as server:
        async with client(GuardedTransport(OWN)) as http:
            async with http.stream("GET", f"http://127.0.0.1:{server.port}/") as answer:
                assert await read_up_to(answer, 1000) == (bytes(1000), True)


@pytest.mark.needs("openssl")
async def test_the_certificate_is_that_of_the_name_and_not_of_the_address(tmp_path: Path):
    make = "openssl req -x509 -newkey rsa:2048 -nodes -keyout key -out cert -days 2 -subj /CN=shop.example -addext subjectAltName=DNS:shop.example"
    await asyncio.to_thread(subprocess.run, make.split(), cwd=tmp_path, check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "cert", tmp_path / "key")
    server = Server(page(b"safe"))
    context.sni_callback = lambda socket, name, context: server.names.append(name)
    book = Book(shop_example=[["127.0.0.1"]], other_example=[["127.0.0.1"]])
    trust = ssl.create_default_context(cafile=tmp_path / "cert")
    async with server.running(context), client(GuardedTransport(OWN, resolve=book, trust=trust)) as http:
        assert (await http.get(f"https://shop.example:{server.port}/")).text == "safe"
        with pytest.raises(httpx2.ConnectError, match=r"(?i)hostname mismatch|certificate"):
            await http.get(f"https://other.example:{server.port}/")
    assert server.names == ["shop.example", "other.example"]


async def test_this_machines_resolver_knows_this_machine():
    assert set(await look_up("localhost", 80)) <= {"127.0.0.1", "::1"}
    with pytest.raises(httpx2.ConnectError, match="has no address"):
        await look_up("no-such-host.invalid", 80)
