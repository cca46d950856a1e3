"""A plain client for the tests of the model server."""

from typing import Any

import httpx2

from tests.services import wire
from tests.services.model_server import ModelServer
from tests.services.script import Reply
from tests.services.wire.frames import Asked, Dialect

PATHS = {dialect: path for path, dialect in wire.PATHS.items()}
VERSION = {"anthropic-version": "2023-06-01"}


def asking(dialect: Dialect, text: str = "hi", **more: Any) -> dict[str, Any]:
    """A small valid request."""
    said = "input" if dialect == "responses" else "messages"
    limit = {"max_tokens": 100} if dialect == "messages" else {}
    return {"model": "m", said: [{"role": "user", "content": text}], **limit, **more}


def connect(server: ModelServer, timeout: float = 5) -> httpx2.AsyncClient:
    """A client of the server; without TLS certificates, whose loading would cost more than the test."""
    return httpx2.AsyncClient(base_url=server.url, headers=VERSION, timeout=timeout, verify=False)


async def post(server: ModelServer, dialect: Dialect, body: dict[str, Any]) -> httpx2.Response:
    """Sends one request over a connection of its own."""
    async with connect(server) as client:
        return await client.post(PATHS[dialect], json=body)


async def stream(server: ModelServer, dialect: Dialect, timeout: float = 5) -> tuple[bytes, str]:
    """The bytes of the body that arrived, and the name of the error that ended it, if one did."""
    arrived = b""
    async with connect(server, timeout) as client:
        try:
            async with client.stream("POST", PATHS[dialect], json=asking(dialect, stream=True)) as response:
                async for part in response.aiter_raw():
                    arrived += part
        except httpx2.TransportError as failure:
            return arrived, type(failure).__name__
    return arrived, ""


def whole(dialect: Dialect, reply: Reply, arrived: bytes) -> bytes:
    """The whole stream of which these bytes are the beginning; they hold the id that the server gave."""
    prefix = {"chat": b"chatcmpl-", "responses": b"resp_", "messages": b"msg_"}[dialect]
    answer_id = arrived.split(prefix, 1)[1].split(b'"', 1)[0].decode()
    return b"".join(wire.stream_bytes(dialect, reply, Asked(answer_id, "m", include_usage=False)))


def text_of(dialect: Dialect, response: httpx2.Response) -> str:
    """The text of an answer without a stream."""
    body = response.json()
    match dialect:
        case "chat":
            return body["choices"][0]["message"]["content"]
        case "responses":
            return body["output"][0]["content"][0]["text"]
        case "messages":
            return body["content"][0]["text"]
