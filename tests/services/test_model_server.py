import asyncio
import signal
import sys
from pathlib import Path
from typing import Any

import httpx2
import msgspec
import pytest

from tests.services import wire
from tests.services.client import PATHS, asking, connect, post, text_of, whole
from tests.services.model_server import ModelServer
from tests.services.request import Request
from tests.services.script import ECHO, Call, Reply, Script, call, error
from tests.services.wire.frames import Asked, Dialect

ROOT = Path(__file__).parents[2]
FULL = Reply("Grüße an alle.", "Höflich bleiben.", (Call("ls", {"path": "ü"}, "a"), Call("todo", id="b")))


@pytest.mark.parametrize("dialect", wire.DIALECTS)
async def test_each_dialect_streams_what_was_scripted(dialect: Dialect):
    async with ModelServer([FULL]) as server:
        response = await post(server, dialect, asking(dialect, stream=True))
    assert response.headers["content-type"] == "text/event-stream; charset=utf-8"
    assert response.content == whole(dialect, FULL, response.content)
    assert server.violations == []


@pytest.mark.parametrize("dialect", wire.DIALECTS)
async def test_each_dialect_answers_without_a_stream(dialect: Dialect):
    async with ModelServer([FULL]) as server:
        response = await post(server, dialect, asking(dialect))
    body = response.json()
    answer_id = body["id"].replace("-", "_").split("_")[1]
    assert body == msgspec.json.decode(wire.body_bytes(dialect, FULL, Asked(answer_id, "m")))


async def test_a_chat_stream_has_its_usage_when_the_request_asks_for_it():
    async with ModelServer([Reply("Hi")]) as server:
        body = asking("chat", stream=True, stream_options={"include_usage": True})
        response = await post(server, "chat", body)
    assert b'"prompt_tokens":10' in response.content


async def test_replies_come_in_order_and_then_the_last_word_for_ever():
    async with ModelServer([Reply("one"), Reply("two")]) as server:
        said = [text_of("chat", await post(server, "chat", asking("chat"))) for _ in range(4)]
    assert said == ["one", "two", "done", "done"]
    async with ModelServer(Script((Reply("one"),), then=Reply("more"))) as server:
        said = [text_of("chat", await post(server, "chat", asking("chat"))) for _ in range(3)]
    assert said == ["one", "more", "more"]


@pytest.mark.parametrize("dialect", wire.DIALECTS)
async def test_an_echo_says_the_last_user_text(dialect: Dialect):
    async with ModelServer(ECHO) as server:
        assert text_of(dialect, await post(server, dialect, asking(dialect, "one"))) == "one"
        assert text_of(dialect, await post(server, dialect, asking(dialect, "two"))) == "two"


async def test_a_function_can_answer_and_may_wait_before_it_does():
    release = asyncio.Event()

    async def answer(request: Request) -> Reply:
        await release.wait()
        return Reply(f"{request.dialect}: {request.user_text}")

    async with ModelServer(answer) as server:
        waiting = asyncio.create_task(post(server, "messages", asking("messages")))
        assert (await server.received(1)).user_text == "hi"
        assert not waiting.done()
        release.set()
        assert text_of("messages", await waiting) == "messages: hi"


async def test_a_function_that_fails_fails_the_test():
    def answer(request: Request) -> Reply:
        raise AssertionError("not what I expected")

    with pytest.raises(AssertionError, match="not what I expected"):
        async with ModelServer(answer) as server:
            with pytest.raises(httpx2.RemoteProtocolError):
                await post(server, "chat", asking("chat"))


async def test_connections_are_kept_alive_and_counted():
    async with ModelServer() as server:
        async with connect(server) as client:
            for _ in range(3):
                response = await client.post(PATHS["chat"], json=asking("chat", stream=True))
                assert response.content.endswith(b"data: [DONE]\n\n")
        await post(server, "chat", asking("chat"))
    assert server.connections == 2
    assert [request.connection for request in server.requests] == [1, 1, 1, 2]


async def test_a_connection_is_closed_when_the_client_asks_for_it():
    async with ModelServer() as server:
        reader, writer = await asyncio.open_connection("127.0.0.1", int(server.url.rsplit(":", 1)[1]))
        writer.write(b"GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        async with asyncio.timeout(2):
            assert (await reader.read()).startswith(b"HTTP/1.1 200 OK\r\n")
        writer.close()


async def test_an_error_has_the_status_headers_and_body_of_the_script():
    limited = error(429, headers={"retry-after": "7"})
    async with ModelServer([limited, error("html_page"), error("empty"), error(418, body="tea")]) as server:
        responses = [await post(server, "messages", asking("messages")) for _ in range(4)]
    assert [response.status_code for response in responses] == [429, 502, 500, 418]
    assert responses[0].headers["retry-after"] == "7"
    assert responses[0].json()["error"]["type"] == "rate_limit_error"
    assert responses[1].headers["content-type"] == "text/html"
    assert [response.content for response in responses[2:]] == [b"", b"tea"]


@pytest.mark.parametrize("dialect", wire.DIALECTS)
async def test_a_request_that_a_provider_would_refuse_is_noted_and_takes_no_reply(dialect: Dialect):
    async with ModelServer([Reply("for the good one")]) as server:
        bad = await post(server, dialect, {"model": "m"})
        empty = await post(server, dialect, asking(dialect, ""))
        async with connect(server) as client:
            broken = await client.post(PATHS[dialect], content=b"{")
        good = await post(server, dialect, asking(dialect))
    assert [response.status_code for response in (bad, empty, broken)] == [400, 400, 400]
    assert bad.json()["error"]["type"] == "invalid_request_error"
    assert bad.json()["error"]["message"] == server.violations[0]
    assert len(server.violations) == 3
    assert text_of(dialect, good) == "for the good one"


async def test_models_are_listed_in_both_forms_and_other_paths_are_unknown():
    async with ModelServer(models=["a", "b"]) as server, connect(server) as client:
        anthropic = (await client.get("/v1/models")).json()
        del client.headers["anthropic-version"]
        openai = (await client.get("/v1/models")).json()
        unknown = await client.get("/v1/chat/completions")
    assert [row["id"] for row in openai["data"]] == ["a", "b"]
    assert (anthropic["first_id"], anthropic["last_id"], anthropic["has_more"]) == ("a", "b", False)
    assert unknown.status_code == 404
    assert unknown.json()["error"]["code"] == "unknown_url"
    assert [request.path for request in server.requests] == [
        "/v1/models",
        "/v1/models",
        "/v1/chat/completions",
    ]


SAID: dict[Dialect, dict[str, Any]] = {
    "chat": {
        "messages": [
            {"role": "system", "content": "Be kind."},
            {"role": "user", "content": "hi"},
            {
                "role": "assistant",
                "tool_calls": [{"id": "a", "type": "function", "function": {"name": "ls", "arguments": "{}"}}],
            },
            {"role": "tool", "tool_call_id": "a", "content": "x.txt"},
        ],
        "tools": [
            {
                "type": "function",
                "function": {"name": "ls", "parameters": {"type": "object", "properties": {}}},
            }
        ],
    },
    "responses": {
        "instructions": "Be kind.",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": "hi"}]},
            {"type": "function_call", "call_id": "a", "name": "ls", "arguments": "{}"},
            {"type": "function_call_output", "call_id": "a", "output": "x.txt"},
        ],
        "tools": [{"type": "function", "name": "ls", "parameters": {"type": "object", "properties": {}}}],
    },
    "messages": {
        "max_tokens": 100,
        "system": "Be kind.",
        "messages": [
            {"role": "user", "content": "hi"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "ls", "input": {}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "x.txt"}]},
        ],
        "tools": [{"name": "ls", "input_schema": {"type": "object"}}],
    },
}


@pytest.mark.parametrize("dialect", wire.DIALECTS)
async def test_a_recorded_request_tells_the_same_in_every_dialect(dialect: Dialect):
    async with ModelServer() as server:
        await post(server, dialect, {"model": "m", **SAID[dialect]})
        await post(server, dialect, {"model": "m", **SAID[dialect], "tools": None})
    assert server.violations == []
    first, last = server.requests
    assert (first.user_text, first.results, first.tool_names) == ("hi", {"a": "x.txt"}, ["ls"])
    assert last == server.last
    assert last.tool_names == []
    assert b"Be kind." in server.prompt_bytes(0)
    assert b'"ls"' in server.prompt_bytes(0)
    assert b"x.txt" not in server.prompt_bytes(0)
    assert server.prompt_bytes(0) != server.prompt_bytes(1)


async def test_call_ids_do_not_repeat_from_one_server_to_the_next():
    ids: list[str] = []
    for _ in range(2):
        async with ModelServer([call("ls"), call("ls")]) as server:
            for _ in range(2):
                body = (await post(server, "chat", asking("chat"))).json()
                ids.append(body["choices"][0]["message"]["tool_calls"][0]["id"])
    assert len(set(ids)) == 4


async def test_the_server_runs_as_a_command_with_a_script_and_a_log(tmp_path: Path):
    script, log = tmp_path / "script.json", tmp_path / "log.jsonl"
    script.write_text('[{"text": "one"}, {"error": {"status": 429, "headers": {"retry-after": "1"}}}]')
    command = [sys.executable, "-m", "tests.services.model_server", "--script", script, "--log", log]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE, cwd=ROOT)
    assert process.stdout is not None
    try:
        url = (await process.stdout.readline()).decode().strip()
        async with httpx2.AsyncClient(base_url=url, verify=False) as client:
            bodies = [asking("chat", text) for text in ("first", "second", "third")]
            answers = [await client.post(PATHS["chat"], json=body) for body in bodies]
    finally:
        process.send_signal(signal.SIGTERM)
        ended = await process.wait()
    assert ended == 0
    assert [answer.status_code for answer in answers] == [200, 429, 200]
    assert [text_of("chat", answers[index]) for index in (0, 2)] == ["one", "done"]
    logged = [msgspec.json.decode(line, type=Request) for line in log.read_bytes().splitlines()]
    assert [request.user_text for request in logged] == ["first", "second", "third"]
