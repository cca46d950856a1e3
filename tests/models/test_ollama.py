"""Ollama: the window is what the server gave the model, asked for once and only behind an answer."""

import json
import threading
from collections.abc import AsyncIterator, Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from hermes.models.authfile import AuthFile
from hermes.models.catalog import WINDOW, Catalog
from hermes.models.choose import Choice, Chooser
from hermes.models.pool import Pool
from hermes.models.roster import Roster
from hermes.protocol.errors import UserError
from hermes.protocol.models import Finished, Model, ModelRequest

REQUEST = ModelRequest(system="Be brief.", tools=(), items=())
CHUNKS = [
    {"choices": [{"index": 0, "delta": {"role": "assistant", "content": "hi"}}]},
    {"choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]},
]
SSE = b"".join(b"data: " + json.dumps(chunk).encode() + b"\n\n" for chunk in CHUNKS) + b"data: [DONE]\n\n"


class FakeOllama:
    """Answers each chat with "hi"; /api/ps and /api/show say what the test gave."""

    def __init__(self, ps: object, show: object) -> None:
        self.paths: list[str] = []
        self.keys: set[str | None] = set()
        paths, keys, said = self.paths, self.keys, {"/api/ps": ps, "/api/show": show}

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                self.rfile.read(int(self.headers["content-length"]))
                self.do_GET()

            def do_GET(self) -> None:
                paths.append(self.path)
                keys.add(self.headers["authorization"])
                body = SSE if self.path == "/v1/chat/completions" else json.dumps(said[self.path]).encode()
                self.send_response(200)
                self.send_header("content-type", "text/event-stream" if body is SSE else "application/json")
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: object) -> None:
                """Quiet."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})
        self._thread.start()
        self.base_url = f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def no_local(name: str) -> Model:
    raise UserError("the embedded model is not installed")


Start = Callable[[object, object], tuple[FakeOllama, Roster]]


@pytest.fixture
async def start(tmp_path: Path) -> AsyncIterator[Start]:
    servers: list[FakeOllama] = []
    async with Pool() as pool:

        def started(ps: object, show: object) -> tuple[FakeOllama, Roster]:
            servers.append(FakeOllama(ps, show))
            chooser = Chooser(Catalog(), environ={"MINE": "secret"})
            return servers[-1], Roster(chooser, pool, AuthFile(tmp_path / "auth.json"), local=no_local)

        yield started
    for server in servers:
        server.close()


@pytest.mark.parametrize(
    ("ps", "show", "window", "asked"),
    [
        ({"models": [{"name": "m:latest", "context_length": 4096}]}, {}, 4096, ["/api/ps"]),
        (
            {"models": [{"name": "other", "context_length": 1}]},
            {"parameters": 'stop "x"\nnum_ctx                8192'},
            8192,
            ["/api/ps", "/api/show"],
        ),
        ({"models": []}, {"parameters": "temperature 1"}, WINDOW, ["/api/ps", "/api/show"]),
        ("not what was expected", {}, WINDOW, ["/api/ps"]),
    ],
)
async def test_the_window_is_learned_behind_the_first_answer(
    start: Start, ps: object, show: object, window: int, asked: list[str]
) -> None:
    server, roster = start(ps, show)
    model = roster.open(Choice("ollama", "m", base_url=server.base_url))
    assert (model.window, server.paths) == (WINDOW, [])
    for _ in range(2):
        deltas = [delta async for delta in model.stream(REQUEST)]
        assert isinstance(deltas[-1], Finished)
        assert model.window == window
    chat = "/v1/chat/completions"
    assert server.paths == [chat, *asked, chat]
    assert server.keys == {None}


async def test_a_server_behind_a_key_is_asked_with_that_key(start: Start) -> None:
    server, roster = start({"models": [{"name": "m", "context_length": 4096}]}, {})
    model = roster.open(Choice("ollama", "m", base_url=server.base_url, api_key_env="MINE"))
    assert isinstance([delta async for delta in model.stream(REQUEST)][-1], Finished)
    assert (model.window, server.keys) == (4096, {"Bearer secret"})
