"""The fault server over stdin and stdout, as a process of its own, and the hand that steers it from outside."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import msgspec

from hermes.mcp.chaos.answers import Answers, acknowledged, changed, failure
from hermes.mcp.chaos.call import Call, Id, Message, Peer, RpcError
from hermes.mcp.chaos.faults import HTTP_ONLY, Armed, Fault
from hermes.mcp.chaos.ledger import Counts, Ledger, read_counts
from hermes.mcp.chaos.offer import said
from hermes.mcp.chaos.plan import Era, Plan

LOOK = 0.01
"""Seconds between two looks for faults that wait for no request."""
OUTLIVES = 60
"""Seconds that an orphan stays when its stdin has ended."""
LINE_LIMIT = 256 * 1024 * 1024


class StdioChaos:
    """A fault server that somebody else starts with `command`; counts and faults go through the folder."""

    def __init__(self, folder: Path, *, era: Era = "old", wrapped: bool = False) -> None:
        self._folder = folder
        wrapper = ("--wrapped",) if wrapped else ()
        words = ("-m", "hermes.mcp.chaos", "--stdio", "--era", era, "--folder", str(folder), *wrapper)
        self.command: tuple[str, ...] = (sys.executable, *words)

    def arm(self, *faults: Fault) -> None:
        """Written in one piece; whatever process runs, or runs next, meets the faults once."""
        for fault in faults:
            if fault.kind in HTTP_ONLY:
                raise ValueError(f"{fault.kind} is a fault of HTTP servers")
        with (self._folder / "faults").open("ab") as file:
            file.write(b"".join(msgspec.json.encode(fault) + b"\n" for fault in faults))

    @property
    def counts(self) -> Counts:
        return read_counts(self._folder)


class StdioServer:
    """Serves one client until its stdin ends."""

    def __init__(self, plan: Plan, reader: asyncio.StreamReader, pipe: asyncio.ReadTransport) -> None:
        self._ledger = Ledger(plan.folder)
        self._armed = Armed(self._ledger, plan.folder)
        self._answers = Answers(plan.era, self._ledger)
        self._peer = Peer()
        self._reader = reader
        self._pipe = pipe
        self._subscriptions: set[Id] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._orphan = False

    async def run(self) -> None:
        self._ledger.note("process", str(os.getpid()))
        looking = asyncio.create_task(self._look())
        while line := await self._reader.readline():
            self._take(line)
        looking.cancel()
        if self._orphan:
            await asyncio.sleep(OUTLIVES)

    def _take(self, line: bytes) -> None:
        try:
            message = msgspec.json.decode(line, type=Message)
        except msgspec.MsgspecError:
            return self._write({"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}})
        match message:
            case {"method": str(), "id": str() | int()}:
                task = asyncio.create_task(self._request(message))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)
            case {"method": str(method)}:
                self._notification(method, message.get("params") or {})
            case {"id": str() | int()}:
                self._peer.reply(message)
            case _:
                self._write({"jsonrpc": "2.0", "id": None, "error": {"code": -32600, "message": "Invalid request"}})

    def _notification(self, method: str, params: Message) -> None:
        self._ledger.note("request", method)
        if method == "notifications/cancelled":
            self._ledger.note("cancelled", str(params.get("requestId")))
            self._subscriptions.discard(params["requestId"])
            self._peer.cancel(params["requestId"])

    async def _request(self, message: Message) -> None:
        call = Call(message, self._tell, self._peer)
        self._ledger.note("request", call.method)
        if (fault := self._armed.take("before", call.method, call.tool)) and await self._play(fault, call):
            return
        try:
            self._answers.check_era(call)
        except RpcError as error:
            return self._write(failure(call, error))
        if call.modern and call.method == "subscriptions/listen":
            self._subscriptions.add(call.id)
            return self._write(acknowledged(call))
        task = self._peer.running[call.id] = asyncio.create_task(self._answers.answer(call))
        answer = await task
        del self._peer.running[call.id]
        if (fault := self._armed.take("after", call.method, call.tool)) and await self._play(fault, call):
            return
        if self._armed.take("midway", call.method, call.tool):
            line = msgspec.json.encode(answer)
            self._write_line(line[: len(line) // 2])
            os._exit(1)
        if not task.cancelling():
            self._write(answer)

    async def _play(self, fault: Fault, call: Call) -> bool:
        """Let the fault happen; True if that was all the answer there is."""
        match fault.kind:
            case "slow":
                await asyncio.sleep(fault.seconds)
                return False
            case "exit":
                os._exit(1)
            case "rpc":
                self._write(failure(call, RpcError(fault.code, fault.text)))
            case "garbage":
                self._write_line(b"\x00<this is no JSON\n")
                return False
            case "oversize":
                self._write({"jsonrpc": "2.0", "id": call.id, "result": said("x" * fault.size)})
            case _:
                pass
        return True

    async def _look(self) -> None:
        """Let happen what waits for no request."""
        while True:
            while fault := self._armed.take_pressing():
                self._perform(fault)
            await asyncio.sleep(LOOK)

    def _perform(self, fault: Fault) -> None:
        match fault.kind:
            case "exit":
                os._exit(1)
            case "wedge":
                self._pipe.pause_reading()
            case "stderr":
                os.write(2, b"chaos complains\n" * (fault.size // 16))
            case "orphan":
                self._orphan = True
                os.kill(os.getppid(), signal.SIGKILL)
            case "garbage":
                self._write_line(b"\x00<this is no JSON\n" * fault.times)
            case "describe" | "schema" | "storm":
                self._answers.description = fault.text or self._answers.description
                self._answers.extra |= fault.kind == "schema"
                for _ in range(fault.times if fault.kind == "storm" else 1):
                    self._announce()
            case _:
                raise ValueError(f"{fault.kind} needs a request")

    def _announce(self) -> None:
        if self._answers.era != "modern":
            self._write(changed())
        for subscription in self._subscriptions:
            self._write(changed(subscription))

    async def _tell(self, message: Message) -> None:
        self._write(message)

    def _write(self, message: Message) -> None:
        self._write_line(msgspec.json.encode(message) + b"\n")

    def _write_line(self, data: bytes) -> None:
        while data:
            data = data[os.write(1, data) :]


async def serve_stdio(plan: Plan) -> None:
    """Serve this process's stdin and stdout."""
    loop = asyncio.get_running_loop()
    reader = asyncio.StreamReader(limit=LINE_LIMIT)
    pipe, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin.buffer)
    await StdioServer(plan, reader, pipe).run()
