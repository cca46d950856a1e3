"""A model over HTTP, against the scripted server: what is asked, what comes back, and everything that can go wrong."""

import asyncio
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing, asynccontextmanager, suppress
from pathlib import Path
from typing import Any, Literal

import msgspec
import pytest

from hermes.models import dialects
from hermes.models.endpoint import Endpoint, Patience
from hermes.models.pool import Pool
from hermes.models.prices import Prices
from hermes.models.quirks import Quirks
from hermes.protocol.errors import (
    AuthFailed,
    BadRequest,
    ContextTooLong,
    Disconnected,
    ModelError,
    OutputTooLarge,
    Overloaded,
    QuotaSpent,
    RateLimited,
)
from hermes.protocol.items import Item, Opaque, Reply, Thought, ToolCall
from hermes.protocol.models import Began, Delta, Ended, Finished, Grew, Model, ModelRequest, Tokens
from tests.models.histories import LIST, READ, history, request, said
from tests.services import wire
from tests.services.model_server import ModelServer
from tests.services.script import Call, ErrorKind, Fault, Usage, error
from tests.services.script import Reply as Scripted

DIALECTS = pytest.mark.parametrize("dialect", dialects.NAMES)
HELLO = request(said(0, "hi"))
IMPATIENT = Patience(connect=5, first=5, between=5, idle=5)


@pytest.fixture
async def pool() -> AsyncIterator[Pool]:
    async with Pool() as pool:
        yield pool


def endpoint(server: ModelServer, pool: Pool, dialect: str = "chat", **more: Any) -> Endpoint:
    given = {"name": "t:m", "model": "m", "dialect": dialect, "url": server.base_url, "window": 9000}
    return Endpoint(**{**given, "pool": pool, "patience": IMPATIENT, **more})


async def answer(model: Model, asked: ModelRequest = HELLO) -> list[Delta]:
    return [delta async for delta in model.stream(asked)]


def items_of(deltas: list[Delta], model: Model, step: int) -> Iterator[Item]:
    """The items that the loop would make of an answer; each call gives "ok"."""
    place: dict[str, Any] = {"turn": 1, "step": step}
    for began in [delta for delta in deltas if isinstance(delta, Began)]:
        mine = [d for d in deltas if isinstance(d, Grew | Ended) and d.index == began.index]
        text = "".join(delta.text for delta in mine if isinstance(delta, Grew))
        opaque = next(delta.opaque for delta in mine if isinstance(delta, Ended))
        seal = Opaque(model.dialect, model.name, opaque) if opaque else None
        given = {**place, "id": f"i{step}{began.index}", "index": began.index, "opaque": seal}
        match began.kind:
            case "text":
                yield Reply(**given, text=text)
            case "thought":
                yield Thought(**given, text=text)
            case "call":
                yield ToolCall(
                    **given,
                    call_id=began.call_id,
                    name=began.name,
                    args=text,
                    status="done",
                    result=(said(0, "ok").parts),
                )


@DIALECTS
async def test_a_whole_conversation_is_accepted_at_every_step(dialect: str, pool: Pool):
    script = [
        Scripted("Looking.", "Hm.", (Call("read_file", {"path": "a"}), Call("ls", {}), Call("ls", "{cut"))),
        Scripted(thought="More.", calls=(Call("ls", {}, id="same"), Call("no such tool", {}, id="same"))),
        Scripted("Done.", "Sure."),
        Scripted("Bye."),
    ]
    async with ModelServer(script) as server:
        model = endpoint(server, pool, dialect)
        items: list[Item] = [said(0, "What is here?")]
        for step in range(1, 5):
            asked = ModelRequest(system="Be kind.", tools=(READ, LIST), items=tuple(items))
            deltas = await answer(model, asked)
            items += [*items_of(deltas, model, step), *([said(step, "Thanks.")] if step == 3 else [])]
        assert server.violations == []
        assert len(server.requests) == 4 and server.connections == 1
        assert len({server.prompt_bytes(index) for index in range(4)}) == 1
        sent = msgspec.json.encode(server.last.body)
        assert {"chat": b"Hm." not in sent, "responses": b"enc_" in sent, "anthropic": b"sig_" in sent}[dialect]


@DIALECTS
async def test_a_history_with_everything_in_it_is_accepted(dialect: str, pool: Pool):
    async with ModelServer([Scripted("ok")]) as server:
        await answer(endpoint(server, pool, dialect), history(None))
        assert server.violations == []


@DIALECTS
async def test_an_answer_in_deltas(dialect: str, pool: Pool):
    usage = Usage(input=100, output=20, cache_read=50, cache_write=10, reasoning=5)
    reply = Scripted("Hello", calls=(Call("ls", {"a": 1}, "c1"),), usage=usage, chunk=99)
    async with ModelServer([reply]) as server:
        deltas = await answer(endpoint(server, pool, dialect))
    assert deltas == [
        Began(0, "text"),
        Grew(0, "Hello"),
        Ended(0),
        Began(1, "call", "c1", "ls"),
        Grew(1, '{"a":1}'),
        Ended(1),
        Finished("calls", Tokens(input=160, output=20, cache_read=50, cache_write=10, reasoning=5), "t:m"),
    ]


async def test_a_call_is_priced(pool: Pool):
    usage = Usage(input=1000, output=100, cache_read=2000, cache_write=500)
    cheap = Prices(input=1, output=10, cache_read=0.1, cache_write=2)
    dear = Prices(input=1, output=10, long_from=3000, long=Prices(input=2, output=20))

    async def cost(prices: Prices | None, reply: Scripted) -> float | None:
        async with ModelServer([reply]) as server:
            last = (await answer(endpoint(server, pool, prices=prices)))[-1]
            assert isinstance(last, Finished)
            return last.cost

    told = Scripted("x", usage=usage)
    assert await cost(cheap, told) == pytest.approx((1000 + 200 + 1000 + 1000) / 1e6)
    assert await cost(dear, told) == pytest.approx((7000 + 2000) / 1e6)
    assert await cost(None, told) is None
    assert await cost(cheap, Scripted("x", usage=Usage(0, 0))) is None


@DIALECTS
async def test_a_whole_body_in_place_of_a_stream_is_an_answer(dialect: str, pool: Pool):
    reply = Scripted("Hello", calls=(Call("ls", {}),), fault=Fault(as_json=True))
    async with ModelServer([reply]) as server:
        deltas = await answer(endpoint(server, pool, dialect))
    assert isinstance(deltas[-1], Finished) and deltas[-1].reason == "calls"


KINDS: dict[ErrorKind, type[ModelError]] = {
    "bad_request": BadRequest,
    "invalid_key": AuthFailed,
    "no_credit": QuotaSpent,
    "insufficient_quota": QuotaSpent,
    "forbidden": AuthFailed,
    "no_model": BadRequest,
    "timeout": Overloaded,
    "too_large": ContextTooLong,
    "context_too_long": ContextTooLong,
    "max_tokens_too_large": OutputTooLarge,
    "rate_limit": RateLimited,
    "server_error": Overloaded,
    "overloaded": Overloaded,
    "html_page": Overloaded,
    "empty": Overloaded,
}


@DIALECTS
@pytest.mark.parametrize("kind", KINDS)
async def test_each_refusal_is_the_right_error_and_the_next_call_works(dialect: str, kind: ErrorKind, pool: Pool):
    async with ModelServer([error(kind), Scripted("ok")]) as server:
        model = endpoint(server, pool, dialect)
        with pytest.raises(KINDS[kind]) as caught:
            await answer(model)
        assert type(caught.value) is KINDS[kind]
        assert isinstance((await answer(model))[-1], Finished)


async def test_a_rate_limit_says_how_long_to_wait(pool: Pool):
    async with ModelServer([error(429, headers={"retry-after": "17"})]) as server:
        with pytest.raises(RateLimited) as caught:
            await answer(endpoint(server, pool))
    assert caught.value.after == 17


TALK = Scripted("Hello there, how are you?", calls=(Call("ls", {"path": "/"}),), chunk=4)


def faulty(**fault: Any) -> Scripted:
    return msgspec.structs.replace(TALK, fault=Fault(**fault))


WHERE = pytest.mark.parametrize("where", [{}, {"after_bytes": 0}, {"after_bytes": 7}, {"after_events": 3}])


@DIALECTS
@pytest.mark.parametrize("end", ["cut", "reset"])
@WHERE
async def test_a_connection_that_is_lost_gives_no_answer(
    dialect: str, end: Literal["cut", "reset"], where: dict[str, int], pool: Pool
):
    async with ModelServer([faulty(end=end, **where), Scripted("ok")]) as server:
        model = endpoint(server, pool, dialect)
        with pytest.raises(Disconnected, match=r"127\.0\.0\.1"):
            await answer(model)
        assert isinstance((await answer(model))[-1], Finished)


@WHERE
async def test_a_server_that_falls_silent_is_given_up(where: dict[str, int], pool: Pool):
    async with ModelServer([faulty(end="stall", **where), Scripted("ok")]) as server:
        model = endpoint(server, pool, patience=Patience(first=0.2, between=0.2))
        with pytest.raises(Disconnected, match=r"127\.0\.0\.1:\d+ sent nothing for 0 s"):
            await answer(model)
        await hung_up(server)
        assert isinstance((await answer(endpoint(server, pool)))[-1], Finished)


@DIALECTS
async def test_an_error_amid_a_stream_is_the_right_error(dialect: str, pool: Pool):
    async with ModelServer([faulty(end="error", after_events=4, error="overloaded")]) as server:
        with pytest.raises(Overloaded):
            await answer(endpoint(server, pool, dialect))


@DIALECTS
async def test_an_event_that_cannot_be_read_is_a_lost_connection(dialect: str, pool: Pool):
    async with ModelServer([faulty(bad_event=3)]) as server:
        with pytest.raises(Disconnected, match="cannot be read"):
            await answer(endpoint(server, pool, dialect))


@DIALECTS
async def test_a_stream_without_a_finish_reason_is_no_answer(dialect: str, pool: Pool):
    async with ModelServer([msgspec.structs.replace(TALK, finish=None)]) as server:
        with pytest.raises(Disconnected, match="cut off"):
            await answer(endpoint(server, pool, dialect))


@DIALECTS
@pytest.mark.parametrize("end", ["cut", "reset", "stall"])
async def test_what_happens_behind_the_finish_takes_nothing_away(
    dialect: str, end: Literal["cut", "reset", "stall"], pool: Pool
):
    async with ModelServer([faulty(end=end, after_events=1000)]) as server:
        started = time.monotonic()
        deltas = await answer(endpoint(server, pool, dialect, patience=Patience()))
        assert isinstance(deltas[-1], Finished) and deltas[-1].reason == "calls"
        assert time.monotonic() - started < 1


@pytest.mark.parametrize("dialect,spoken", [("chat", "chat"), ("anthropic", "messages")])
async def test_an_answer_is_whole_once_its_finish_reason_came(
    dialect: str, spoken: Literal["chat", "messages"], pool: Pool
):
    all_but_the_last = len(wire.stream_bytes(spoken, TALK)) - 1
    async with ModelServer([faulty(end="reset", after_events=all_but_the_last)]) as server:
        deltas = await answer(endpoint(server, pool, dialect))
    assert isinstance(deltas[-1], Finished) and deltas[-1].reason == "calls"


async def test_a_server_may_be_slow_before_its_first_word_but_not_behind_it(pool: Pool):
    slow = Patience(connect=1, first=5, between=0.1, idle=5)
    async with ModelServer([faulty(delay=0.3), faulty(end="stall", after_events=3)]) as server:
        model = endpoint(server, pool, patience=slow)
        assert isinstance((await answer(model))[-1], Finished)
        with pytest.raises(Disconnected, match="sent nothing for 0 s"):
            await answer(model)


@asynccontextmanager
async def raw_server(*parts: bytes, pause: float = 0.0) -> AsyncIterator[str]:
    """Sends the same bytes to the first who asks; gives its address."""
    served = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        # The client may have seen enough before all of it is sent.
        with suppress(ConnectionError):
            await reader.readuntil(b"\r\n\r\n")
            for part in parts:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(pause)
        writer.close()
        served.set()

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        await served.wait()
        server.close()
        await server.wait_closed()


HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n"


async def test_signs_of_life_alone_do_not_keep_a_call_waiting_for_ever(pool: Pool):
    patience = Patience(connect=1, first=5, between=5, idle=0.1)
    async with raw_server(HEAD, *[b": PROCESSING\n\n"] * 50, pause=0.02) as host:
        model = Endpoint(
            name="t:m", model="m", dialect="chat", url=f"http://{host}/v1", pool=pool, window=1, patience=patience
        )
        with pytest.raises(Disconnected, match="only signs of life"):
            await answer(model)


async def test_a_web_page_with_status_200_says_to_check_the_address(pool: Pool):
    page = b"HTTP/1.1 200 OK\r\ncontent-type: text/html\r\nconnection: close\r\n\r\n<title>Welcome</title>"
    async with raw_server(page) as host:
        model = Endpoint(name="t:m", model="m", dialect="chat", url=f"http://{host}", pool=pool, window=1)
        with pytest.raises(BadRequest, match=r"web page \(Welcome\): check base_url"):
            await answer(model)


async def test_an_endless_refusal_is_read_only_in_part(pool: Pool):
    refusal = b"HTTP/1.1 500 Oops\r\nconnection: close\r\n\r\n"
    async with raw_server(refusal, *[b"no " * 10_000] * 1000) as host:
        model = Endpoint(name="t:m", model="m", dialect="chat", url=f"http://{host}", pool=pool, window=1)
        with pytest.raises(Overloaded, match=r"^no no .{280,295}…$"):
            await answer(model)


async def test_nobody_there_says_who_was_called(pool: Pool):
    async with ModelServer() as server:
        model = endpoint(server, pool)
    with pytest.raises(Disconnected, match=r"cannot reach 127\.0\.0\.1:\d+: "):
        await answer(model)


@pytest.mark.parametrize("url", ["", "ftp://a.example", "http://[::1", "localhost:8080/v1"])
async def test_what_is_no_web_address_says_what_to_set(url: str, pool: Pool):
    model = Endpoint(name="t:m", model="m", dialect="chat", url=url, pool=pool, window=1)
    with pytest.raises(BadRequest, match="set base_url"):
        await answer(model)


@DIALECTS
async def test_closing_early_hangs_up_at_once(dialect: str, pool: Pool):
    async with ModelServer([msgspec.structs.replace(TALK, endless=True)]) as server:
        async with aclosing(endpoint(server, pool, dialect).stream(HELLO)) as deltas:
            async for delta in deltas:
                if isinstance(delta, Grew):
                    break
        await hung_up(server)


@pytest.mark.parametrize("fault", [{"end": "stall"}, {"end": "stall", "after_events": 3}])
async def test_cancelling_hangs_up_at_once(fault: dict[str, Any], pool: Pool):
    async with ModelServer([faulty(**fault)]) as server:
        task = asyncio.create_task(answer(endpoint(server, pool, patience=Patience())))
        await server.received(1)
        await asyncio.sleep(0.05)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        await hung_up(server)


async def hung_up(server: ModelServer) -> None:
    async with asyncio.timeout(1):
        while server.open_connections:
            await asyncio.sleep(0.005)


KEY = "sk-canary-1234567890"


@DIALECTS
async def test_the_key_goes_where_it_belongs(dialect: str, pool: Pool):
    async with ModelServer([Scripted("ok")] * 3) as server:
        await answer(endpoint(server, pool, dialect, key=KEY))
        await answer(endpoint(server, pool, dialect, key=KEY, key_for=f"{server.url}/another/path"))
        await answer(endpoint(server, pool, dialect))
        named = "x-api-key" if dialect == "anthropic" else "authorization"
        sent = [asked.headers.get(named, "") for asked in server.requests]
    assert [KEY in value for value in sent] == [True, True, False]


@pytest.mark.parametrize(
    "home",
    [
        "https://api.vendor.example/v1",
        "http://127.0.0.1/v1",
        "https://127.0.0.1:{port}/v1",
        "http://127.0.0.1.evil.example:{port}/v1",
        "http://localhost:{port}/v1",
    ],
)
async def test_a_vendors_key_is_sent_to_no_other_host(home: str, pool: Pool):
    async with ModelServer() as server:
        port = server.url.rpartition(":")[2]
        model = endpoint(server, pool, key=KEY, key_for=home.format(port=port))
        with pytest.raises(AuthFailed, match=r"is not sent to 127\.0\.0\.1"):
            await answer(model)
        assert server.requests == []


async def test_a_redirect_is_not_followed(pool: Pool):
    async with ModelServer() as other:
        async with ModelServer([error(307, headers={"location": other.base_url})]) as server:
            with pytest.raises(BadRequest, match=other.base_url):
                await answer(endpoint(server, pool, key=KEY))
        assert other.requests == []


@pytest.mark.parametrize("key", ["sk-1\nX-Evil: 1", "sk-ü", "two words", "sk\x00"])
async def test_a_key_that_cannot_be_one_is_not_sent(key: str, pool: Pool):
    async with ModelServer() as server:
        with pytest.raises(AuthFailed, match="set it anew"):
            await answer(endpoint(server, pool, key=key))
        assert server.requests == []


async def test_a_key_that_a_provider_repeats_is_masked(pool: Pool):
    async with ModelServer([error(401, body=f'{{"error": "unknown key {KEY}"}}')]) as server:
        model = endpoint(server, pool, key=KEY)
        with pytest.raises(AuthFailed, match=r"^unknown key \*\*\*$"):
            await answer(model)
        assert KEY not in repr(model)


async def test_a_dump_holds_request_and_response_without_the_key(pool: Pool, tmp_path: Path):
    asked = request(said(0, f"my key is {KEY}"))
    async with ModelServer([Scripted("hello"), error(429, body=KEY), faulty(end="cut", after_events=2)]) as server:
        model = endpoint(server, pool, key=KEY, dump=tmp_path / "dumps")
        await answer(model, asked)
        for kind in (RateLimited, Disconnected):
            with pytest.raises(kind):
                await answer(model, asked)
    files = sorted((tmp_path / "dumps").iterdir())
    written = [path.read_text() for path in files]
    assert [path.name.rpartition("-")[2] for path in files] == ["request.json", "response.txt"] * 3
    assert all(path.stat().st_mode & 0o777 == 0o600 for path in files)
    assert not any(KEY in text for text in written)
    bodies = [text for text in written if text.startswith("{")]
    assert [msgspec.json.decode(body)["messages"] for body in bodies] == [
        [{"role": "user", "content": "my key is ***"}]
    ] * 3
    assert sum("HTTP 200" in text and "hello" in text for text in written) == 1
    assert sum("HTTP 429" in text for text in written) == 1


async def test_a_dump_that_cannot_be_written_costs_no_answer(pool: Pool, tmp_path: Path):
    (tmp_path / "file").write_text("")
    async with ModelServer([Scripted("hello")]) as server:
        deltas = await answer(endpoint(server, pool, dump=tmp_path / "file" / "dumps"))
    assert isinstance(deltas[-1], Finished)


async def test_requests_carry_what_the_vendor_wants(pool: Pool):
    quirks = Quirks(headers={"x-title": "Hermes"}, body={"provider": {"sort": "price"}})
    async with ModelServer([Scripted("ok")] * 2) as server:
        model = endpoint(server, pool, quirks=quirks, max_output=77)
        await answer(model)
        await answer(model, msgspec.structs.replace(HELLO, max_output=5))
        first, second = server.requests
    assert first.headers["x-title"] == "Hermes"
    assert first.headers["user-agent"].startswith("hermes/")
    assert first.body["provider"] == {"sort": "price"}
    assert [first.body["max_tokens"], second.body["max_tokens"]] == [77, 5]
