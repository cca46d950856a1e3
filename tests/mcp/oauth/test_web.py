"""Which addresses are trusted, and what is let through of a stranger's words."""

import asyncio

import pytest

from hermes.mcp.oauth.web import LARGEST, LONGEST, Unanswered, host_of, is_safe, plain, request
from tests.mcp.oauth.stage import connect


@pytest.mark.parametrize(
    ("url", "server", "expected"),
    [
        ("https://login.example/a", "https://mcp.example", True),
        ("http://login.example/a", "https://mcp.example", False),
        ("http://127.0.0.1/a", "https://mcp.example", False),
        ("http://localhost:1/a", "http://127.0.0.1:2", True),
        ("http://[::1]:1/a", "http://localhost:2", True),
        ("http://box.lan/a", "http://box.lan:8080", True),
        ("http://other.lan/a", "http://box.lan:8080", False),
        ("http://127.0.0.1/a", "http://box.lan:8080", False),
        ("https://user@login.example/", "https://mcp.example", False),
        ("https://login.example/#x", "https://mcp.example", False),
        ("javascript:alert(1)", "http://localhost", False),
        ("file:///etc/passwd", "http://localhost", False),
        ("https://h:port/", "https://mcp.example", False),
        ("https://[", "https://mcp.example", False),
        ("", "https://mcp.example", False),
    ],
)
def test_plain_http_is_only_for_a_server_that_has_it_itself_on_its_own_machine(
    url: str, server: str, expected: bool
) -> None:
    assert is_safe(url, server) is expected


def test_foreign_words_become_part_of_one_short_line() -> None:
    assert plain("bad\r\n\x1b[31m token: s3cret", ("s3cret", "")) == "bad [31m token: ***"
    assert len(plain("long " * 1000)) == LONGEST


def test_a_host_is_shown_without_name_and_password() -> None:
    assert host_of("https://me:pass@login.example:8443/x") == "login.example:8443"
    assert host_of("nonsense") == "the login server"


async def test_an_endless_answer_is_left() -> None:
    async def pour(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 999999999\r\n\r\n")
        try:
            while True:
                writer.write(b" " * 65536)
                await writer.drain()
        except ConnectionError:
            writer.close()

    async with await asyncio.start_server(pour, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(Unanswered, match=f"sent more than {LARGEST} bytes"):
            await request(connect, "GET", f"http://127.0.0.1:{port}/")


async def test_a_redirect_is_not_followed() -> None:
    async def move(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 307 Moved\r\nlocation: http://elsewhere.example/\r\ncontent-length: 0\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(move, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        reply = await request(connect, "POST", f"http://127.0.0.1:{port}/", form={"code": "c"})
    assert reply.status == 307
