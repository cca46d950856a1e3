"""MCP by hand, below any client library: raw requests over HTTP, raw lines over stdio."""

import asyncio
from typing import Any, Self

import httpx2
import msgspec

from hermes.mcp.chaos.server import ChaosServer

HELLO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
META = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def request(method: str, params: dict[str, Any] | None = None, number: int = 1) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params or {}}


def tool_call(name: str, number: int = 1, **arguments: Any) -> dict[str, Any]:
    return request("tools/call", {"name": name, "arguments": arguments}, number)


def text_of(message: Any) -> str:
    return message["result"]["content"][0]["text"]


class Wire:
    """A client of the old era that holds a session and shows every answer as it came."""

    def __init__(self, server: ChaosServer) -> None:
        self.url = server.url
        self.session = ""
        self.http = httpx2.AsyncClient(timeout=5)

    async def __aenter__(self) -> Self:
        answer = await self.post(request("initialize", HELLO))
        self.session = answer.headers["mcp-session-id"]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.http.aclose()

    @property
    def headers(self) -> dict[str, str]:
        accept = {"accept": "application/json, text/event-stream"}
        return accept | ({"mcp-session-id": self.session} if self.session else {})

    async def post(self, message: Any) -> httpx2.Response:
        return await self.http.post(self.url, json=message, headers=self.headers)

    async def call(self, name: str, **arguments: Any) -> httpx2.Response:
        return await self.post(tool_call(name, **arguments))


class Pipe:
    """The fault server as a child process, line by line."""

    def __init__(self, command: tuple[str, ...]) -> None:
        self._command = command

    async def __aenter__(self) -> Self:
        pipe = asyncio.subprocess.PIPE
        self.process = await asyncio.create_subprocess_exec(
            *self._command, stdin=pipe, stdout=pipe, stderr=pipe, limit=16_000_000
        )
        assert self.process.stdin and self.process.stdout and self.process.stderr
        self.stdin, self.stdout, self.stderr = self.process.stdin, self.process.stdout, self.process.stderr
        return self

    async def __aexit__(self, *_: object) -> None:
        if self.process.returncode is None:
            self.process.kill()
        self.stdin.close()
        # The transport is closed once the child's own children have let go of the pipes too.
        await asyncio.gather(self.stdout.read(), self.stderr.read(), self.process.wait())

    def send(self, message: Any) -> None:
        self.stdin.write(msgspec.json.encode(message) + b"\n")

    async def line(self) -> bytes:
        async with asyncio.timeout(5):
            return await self.stdout.readline()

    async def ask(self, message: Any) -> Any:
        self.send(message)
        return msgspec.json.decode(await self.line())
