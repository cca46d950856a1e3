"""One HTTP request to the fault server and its answer, or what goes wrong instead."""

import asyncio
from typing import TYPE_CHECKING

import msgspec

from hermes.mcp.chaos.answers import MODERN_VERSION, acknowledged, failure
from hermes.mcp.chaos.call import Call, Message, RpcError
from hermes.mcp.chaos.connection import Connection, Head
from hermes.mcp.chaos.faults import Fault, Lost
from hermes.mcp.chaos.offer import said

if TYPE_CHECKING:
    from hermes.mcp.chaos.server import ChaosServer, Session

SESSION = "mcp-session-id"
STATUS_OF_CODE = {-32601: 404, -32600: 400, -32602: 400, -32700: 400, -32020: 400, -32022: 400}
"""The modern era's HTTP status of a JSON-RPC error; the old era has 200 for all."""
NAMED = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
PAGE = b"<html><head><title>Bad Gateway</title></head><body><h1>Bad Gateway</h1></body></html>"
GARBAGE = b"\x00<this is no JSON"


class Ended(Exception):
    """The exchange is over and so is its connection."""


class Exchange:
    """Sees one request through. Whatever happens to it is decided by the server's armed faults."""

    def __init__(self, server: "ChaosServer", connection: Connection, head: Head) -> None:
        self._server = server
        self._connection = connection
        self._head = head
        self._ledger = server.ledger

    async def run(self) -> None:
        if self._head.verb == "POST" and self._server.armed.take("unread", "POST"):
            self._reset()
        body = await self._connection.read_body(self._head)
        match self._head.verb:
            case "POST":
                await self._post(body)
            case "GET" | "DELETE" as verb:
                self._ledger.note("request", verb)
                fault = self._server.armed.take("before", verb)
                if fault and await self._play(fault, None):
                    return
                await (self._listen() if verb == "GET" else self._delete())
            case _:
                await self._connection.send(405)

    async def _post(self, body: bytes) -> None:
        try:
            message = msgspec.json.decode(body, type=Message)
        except msgspec.MsgspecError:
            return await self._send_error(400, -32700, "Parse error")
        match message:
            case {"method": str(), "id": str() | int()}:
                await self._request(message)
            case {"method": str(method)}:
                await self._notification(method, message.get("params") or {})
            case {"id": str() | int()} if session := self._session():
                session.reply(message)
                await self._connection.send(202)
            case _:
                await self._send_error(400, -32600, "Invalid request")

    async def _notification(self, method: str, params: Message) -> None:
        self._ledger.note("request", method)
        if (fault := self._server.armed.take("before", method)) and await self._play(fault, None):
            return
        if method == "notifications/cancelled" and (session := self._session()):
            self._ledger.note("cancelled", str(params.get("requestId")))
            session.cancel(params["requestId"])
        await self._connection.send(202)

    async def _request(self, message: Message) -> None:
        session = self._session()
        call = Call(message, self._tell, session)
        self._ledger.note("request", call.method)
        armed = self._server.armed
        if (fault := armed.take("before", call.method, call.tool)) and await self._play(fault, call):
            return
        if refusal := self._refusal(call):
            return await self._send(refusal, 400, call)
        if not call.modern and call.method != "initialize" and session is None:
            return await self._refuse_session(call)
        if call.modern and call.method == "subscriptions/listen":
            return await self._subscribe(call)
        answer = await self._execute(call)
        if (fault := armed.take("after", call.method, call.tool)) and await self._play(fault, call):
            return
        if armed.take("midway", call.method, call.tool):
            await self._send_half(answer)
        await self._send(answer, 200, call)

    def _refusal(self, call: Call) -> Message | None:
        """Why a request is wrong before it is looked at: its era, its headers, or no session where one must be."""
        headers = self._head.headers
        try:
            if (call.modern and self._server.plan.era == "old") or self._lacks_session(call):
                raise RpcError(-32600, "Bad Request: Missing session ID")
            self._server.answers.check_era(call)
            if call.modern and headers.get("mcp-protocol-version") != MODERN_VERSION:
                raise RpcError(-32020, "mcp-protocol-version header does not match the request")
            if call.modern and headers.get("mcp-method") != call.method:
                raise RpcError(-32020, "mcp-method header does not match the request")
            if call.modern and call.method in NAMED and "mcp-name" not in headers:
                raise RpcError(-32020, "mcp-name header is missing")
        except RpcError as error:
            return failure(call, error)
        return None

    def _lacks_session(self, call: Call) -> bool:
        handshake = call.modern or call.method == "initialize" or self._server.plan.era == "modern"
        return not handshake and SESSION not in self._head.headers

    async def _execute(self, call: Call) -> Message:
        """The answer, once the request has been carried out. In the modern era hanging up cancels it."""
        session = self._session()
        task = asyncio.create_task(self._server.answers.answer(call))
        if session:
            session.running[call.id] = task
        watch = asyncio.create_task(self._connection.hang_up())
        try:
            await asyncio.wait({task, watch}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done() and call.modern:
                self._ledger.note("cancelled", str(call.id))
                raise Ended
            return await task
        finally:
            for each in (task, watch):
                each.cancel()
            await asyncio.wait({task, watch})
            if session:
                del session.running[call.id]

    async def _play(self, fault: Fault, call: Call | None) -> bool:
        """Let the fault happen. True if that was the answer, False if all goes on; often the connection ends."""
        match fault.kind:
            case "slow":
                await asyncio.sleep(fault.seconds)
                return False
            case "reset":
                self._reset()
            case "status" | "garbage" if self._connection.streaming:
                self._reset()  # too late for a status: the stream has begun
            case "silent":
                await self._connection.hang_up()
                if call and call.modern:
                    self._ledger.note("cancelled", str(call.id))
                raise Ended
            case "status":
                await self._send_status(fault)
            case "rpc" if call:
                await self._send(failure(call, RpcError(fault.code, fault.text)), 200)
            case "garbage":
                await self._connection.send(200, GARBAGE)
            case "oversize" if call:
                await self._send({"jsonrpc": "2.0", "id": call.id, "result": said("x" * fault.size)}, 200)
            case _:
                return False
        return True

    def _reset(self) -> None:
        self._connection.reset()
        raise Ended

    async def _send_status(self, fault: Fault) -> None:
        headers: dict[str, str] = {}
        if fault.status == 401:
            headers["www-authenticate"] = f'Bearer error="invalid_token", resource_metadata="{self._server.metadata}"'
        if fault.status == 403:
            headers["www-authenticate"] = f'Bearer error="insufficient_scope", scope="{fault.text or "chaos:write"}"'
        if fault.seconds:
            headers["retry-after"] = f"{fault.seconds:g}"
        if fault.status == 502:
            return await self._connection.send(502, PAGE, kind="text/html", headers=headers)
        await self._connection.send(fault.status, fault.text.encode(), kind="text/plain", headers=headers)

    async def _send(self, answer: Message, status: int, call: Call | None = None) -> None:
        headers: dict[str, str] = {}
        if call and call.method == "initialize" and "result" in answer:
            headers[SESSION] = self._server.open_session()
        if call and call.modern and "error" in answer:
            status = STATUS_OF_CODE.get(answer["error"]["code"], 200)
        if status == 200 and self._server.plan.stream and not self._connection.streaming:
            await self._connection.open_stream(headers)
        if not self._connection.streaming:
            return await self._connection.send(status, msgspec.json.encode(answer), headers=headers)
        await self._connection.send_event(answer)
        await self._connection.close_stream()

    async def _send_half(self, answer: Message) -> None:
        if self._server.plan.stream and not self._connection.streaming:
            await self._connection.open_stream()
        if self._connection.streaming:
            await self._connection.send_half_event(answer)
        else:
            await self._connection.send_half(200, msgspec.json.encode(answer))
        self._reset()

    async def _tell(self, message: Message) -> None:
        """Something for the client before the answer: from then on the answer is a stream."""
        if not self._connection.streaming:
            await self._connection.open_stream()
        await self._connection.send_event(message)

    def _session(self) -> "Session | None":
        return self._server.sessions.get(self._head.headers.get(SESSION, ""))

    async def _refuse_session(self, call: Call | None) -> None:
        """Say in the chosen way that there is no such session."""
        lost: Lost = self._server.lost.lost
        match lost:
            case "rpc" if call:
                text = self._server.lost.text or "Session not found"
                await self._send(failure(call, RpcError(-32000, text)), 200)
            case "400":
                await self._send_error(400, -32000, "Bad Request: No valid session ID provided")
            case "bare-400":
                await self._send_error(400, -32000, "Bad Request: Server not initialized")
            case _:
                await self._send_error(404, -32001, "Session not found")

    async def _send_error(self, status: int, code: int, text: str) -> None:
        error = {"jsonrpc": "2.0", "id": None, "error": {"code": code, "message": text}}
        await self._connection.send(status, msgspec.json.encode(error))

    async def _listen(self) -> None:
        """The old era's stream for what belongs to no request."""
        if self._server.plan.era == "modern":
            return await self._connection.send(405)
        session = self._session()
        if session is None:
            return await self._refuse_session(None)
        await self._follow(session.news)

    async def _subscribe(self, call: Call) -> None:
        news = self._server.subscribe(call.id)
        news.put_nowait(acknowledged(call))
        try:
            await self._follow(news)
        finally:
            self._server.unsubscribe(news)

    async def _follow(self, news: "asyncio.Queue[Message | None]") -> None:
        """Pass on the news until it ends or the client hangs up."""
        await self._connection.open_stream()
        watch = asyncio.create_task(self._connection.hang_up())
        try:
            while True:
                coming = asyncio.create_task(news.get())
                await asyncio.wait({coming, watch}, return_when=asyncio.FIRST_COMPLETED)
                if not coming.done():
                    coming.cancel()
                    raise Ended
                message = coming.result()
                if message is None:
                    return await self._connection.close_stream()
                await self._connection.send_event(message)
        finally:
            watch.cancel()
            await asyncio.wait({watch})

    async def _delete(self) -> None:
        if self._session() is None:
            return await self._refuse_session(None)
        self._server.drop_session(self._head.headers[SESSION])
        await self._connection.send(200)
