import asyncio
import time
from typing import Any

import pytest
from msgspec.structs import replace

from tests.services import wire
from tests.services.client import PATHS, asking, connect, post, stream, text_of, whole
from tests.services.model_server import ModelServer
from tests.services.script import Call, Fault, Reply
from tests.services.wire.frames import Dialect

FULL = Reply("Grüße an alle.", "Höflich bleiben.", (Call("ls", {"path": "ü"}, "a"), Call("todo", id="b")))


@pytest.mark.parametrize("dialect", wire.DIALECTS)
@pytest.mark.parametrize("count", [0, 1, 70, 333])
async def test_a_cut_comes_at_the_byte(dialect: Dialect, count: int):
    async with ModelServer([replace(FULL, fault=Fault(end="cut", after_bytes=count))]) as server:
        arrived, failure = await stream(server, dialect)
    assert (len(arrived), failure) == (count, "RemoteProtocolError")
    if count == 333:
        assert whole(dialect, FULL, arrived).startswith(arrived)


async def test_a_cut_after_everything_leaves_out_only_the_end_of_the_http_body():
    async with ModelServer([Reply("Hi", fault=Fault(end="cut", after_bytes=10**6))]) as server:
        arrived, failure = await stream(server, "chat")
    assert (arrived, failure) == (whole("chat", Reply("Hi"), arrived), "RemoteProtocolError")


@pytest.mark.parametrize("dialect", wire.DIALECTS)
async def test_a_cut_comes_after_the_event(dialect: Dialect):
    reply = replace(FULL, fault=Fault(end="cut", after_events=4))
    async with ModelServer([reply]) as server:
        arrived, failure = await stream(server, dialect)
    assert (arrived.count(b"\n\n"), failure) == (4, "RemoteProtocolError")
    assert whole(dialect, FULL, arrived).startswith(arrived)


async def test_a_body_without_a_stream_is_cut_at_the_byte_too():
    async with ModelServer([Reply("Hi", fault=Fault(end="cut", after_bytes=20, as_json=True))]) as server:
        arrived, failure = await stream(server, "chat")
    assert (len(arrived), failure) == (20, "RemoteProtocolError")


async def test_a_reset_comes_after_the_bytes_before_it():
    async with ModelServer([Reply("Hi", fault=Fault(end="reset", after_bytes=50))]) as server:
        arrived, failure = await stream(server, "chat")
    assert (len(arrived), failure) == (50, "ReadError")


async def test_a_stall_keeps_the_connection_open_until_the_client_gives_up():
    async with ModelServer([Reply("Hi", fault=Fault(end="stall", after_bytes=50))]) as server:
        arrived, failure = await stream(server, "chat", timeout=0.1)
        assert (len(arrived), failure) == (50, "ReadTimeout")
        await closed(server)


@pytest.mark.parametrize(
    ("end", "failure"), [("cut", "RemoteProtocolError"), ("reset", "ReadError"), ("stall", "ReadTimeout")]
)
async def test_without_a_place_the_end_comes_before_the_status_line(end: Any, failure: str):
    async with ModelServer([Reply("Hi", fault=Fault(end=end))]) as server:
        assert await stream(server, "chat", timeout=0.1) == (b"", failure)


async def test_a_delay_comes_before_the_first_byte():
    async with ModelServer([Reply("Hi", fault=Fault(delay=0.1))]) as server:
        began = time.monotonic()
        await post(server, "chat", asking("chat"))
        assert time.monotonic() - began >= 0.1


async def test_a_client_that_gives_up_during_a_delay_frees_the_connection():
    async with ModelServer([Reply("Hi", fault=Fault(delay=60))]) as server:
        assert await stream(server, "chat", timeout=0.1) == (b"", "ReadTimeout")
        await closed(server)


async def test_a_stream_can_end_with_an_error_event():
    async with ModelServer([Reply("Hi", fault=Fault(end="error", after_events=2))]) as server:
        arrived, failure = await stream(server, "messages")
    assert failure == ""
    assert b'event: error\ndata: {"type":"error","error":{"type":"overloaded_error"' in arrived


async def test_json_may_come_where_a_stream_was_asked_for():
    async with ModelServer([Reply("Hi", fault=Fault(as_json=True))]) as server:
        response = await post(server, "chat", asking("chat", stream=True))
    assert response.headers["content-type"] == "application/json"
    assert text_of("chat", response) == "Hi"


async def test_an_endless_reply_goes_on_until_the_client_hangs_up():
    async with ModelServer([Reply("again ", endless=True)]) as server:
        arrived = b""
        async with connect(server) as client:
            request = client.stream("POST", PATHS["chat"], json=asking("chat", stream=True))
            async with request as response:
                async for part in response.aiter_raw():
                    arrived += part
                    if len(arrived) > 100_000:
                        break
        await closed(server)
    assert arrived.count(b"again ") > 500


async def closed(server: ModelServer) -> None:
    async with asyncio.timeout(2):
        while server.open_connections:
            await asyncio.sleep(0.001)
