"""One request as it is being answered: what the client sent, and the way back to the client meanwhile."""

import asyncio
from collections.abc import Awaitable, Callable
from itertools import count
from typing import Any

Message = dict[str, Any]
Id = str | int

CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
VERSION = "io.modelcontextprotocol/protocolVersion"
LOG_LEVEL = "io.modelcontextprotocol/logLevel"


class RpcError(Exception):
    """The request is answered with this error."""

    def __init__(self, code: int, text: str, data: Any = None) -> None:
        super().__init__(text)
        self.error: Message = {"code": code, "message": text} | ({} if data is None else {"data": data})


class InputNeeded(Exception):
    """The modern era's way to ask: the answer is a list of questions, and the client calls again with the replies."""

    def __init__(self, questions: Message) -> None:
        super().__init__("input needed")
        self.questions = questions


class Peer:
    """One client: what it has asked and not yet got, and what the server has asked it."""

    def __init__(self) -> None:
        self.running: dict[Id, asyncio.Task[Message]] = {}
        self._asked: dict[Id, asyncio.Future[Message]] = {}
        self._numbers = count(1)

    def cancel(self, request: Id) -> None:
        if task := self.running.get(request):
            task.cancel()

    def reply(self, message: Message) -> None:
        """A response of the client to one of the server's own requests."""
        if asked := self._asked.pop(message["id"], None):
            asked.set_result(message)

    async def ask(self, send: Callable[[Message], Awaitable[None]], method: str, params: Message) -> Message:
        number = f"chaos-{next(self._numbers)}"
        reply = self._asked[number] = asyncio.get_running_loop().create_future()
        await send({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        message = await reply
        if error := message.get("error"):
            raise RpcError(error["code"], error["message"])
        return message["result"]


class Call:
    """A request. `peer` is missing in the modern era over HTTP, where nothing links one request to the next."""

    def __init__(self, request: Message, send: Callable[[Message], Awaitable[None]], peer: Peer | None) -> None:
        self.id: Id = request["id"]
        self.method: str = request["method"]
        self.params: Message = request.get("params") or {}
        self.meta: Message = self.params.get("_meta") or {}
        self.modern = VERSION in self.meta
        self._send = send
        self._peer = peer

    @property
    def tool(self) -> str:
        return str(self.params.get("name", "")) if self.method == "tools/call" else ""

    async def notify(self, method: str, params: Message) -> None:
        await self._send({"jsonrpc": "2.0", "method": method, "params": params})

    async def progress(self, step: int, steps: int) -> None:
        if (token := self.meta.get("progressToken")) is not None:
            params = {"progressToken": token, "progress": step, "total": steps, "message": f"step {step}"}
            await self.notify("notifications/progress", params)

    async def ask(self, method: str, params: Message) -> Message:
        """What the client says to a question of the server."""
        if not self.modern and self._peer:
            return await self._peer.ask(self._send, method, params)
        replies = self.params.get("inputResponses")
        if replies is None:
            raise InputNeeded({"answer": {"method": method, "params": params}})
        return replies["answer"]
