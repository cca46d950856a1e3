"""The fault server over streamable HTTP on loopback, in process: `async with ChaosServer() as server: server.url`."""

import asyncio
import os
from typing import Self

import msgspec

from hermes.mcp.chaos.answers import Answers, changed
from hermes.mcp.chaos.call import Id, Message, Peer
from hermes.mcp.chaos.connection import Connection, Head
from hermes.mcp.chaos.exchange import Ended, Exchange
from hermes.mcp.chaos.faults import STDIO_ONLY, Armed, Fault
from hermes.mcp.chaos.ledger import Counts, Ledger
from hermes.mcp.chaos.plan import Plan

HOST = "127.0.0.1"
HEAD_LIMIT = 64 * 1024
SOUND = Plan()


class Session(Peer):
    """A client of the old era; `news` is what its GET stream gets, None being the end."""

    def __init__(self) -> None:
        super().__init__()
        self.news: asyncio.Queue[Message | None] = asyncio.Queue()


class ChaosServer:
    """Listens from `async with` on. Arm faults with `arm`, or POST them to /chaos, which also has the counts."""

    def __init__(self, plan: Plan = SOUND, *, port: int = 0) -> None:
        self.plan = plan
        self.ledger = Ledger(plan.folder)
        self.armed = Armed(self.ledger)
        self.answers = Answers(plan.era, self.ledger)
        self.sessions: dict[str, Session] = {}
        self.lost = Fault(kind="expire")
        self.port = port
        self._subscribers: dict[asyncio.Queue[Message | None], Id] = {}
        self._connections: dict[asyncio.Task[None], Connection] = {}
        self._outages: set[asyncio.Task[None]] = set()
        self._listener: asyncio.Server | None = None

    @property
    def url(self) -> str:
        return f"http://{HOST}:{self.port}/mcp"

    @property
    def metadata(self) -> str:
        return f"http://{HOST}:{self.port}/.well-known/oauth-protected-resource"

    @property
    def counts(self) -> Counts:
        return self.ledger.counts

    async def __aenter__(self) -> Self:
        await self._open()
        return self

    async def __aexit__(self, *_: object) -> None:
        self._close_listener()
        tasks = {*self._connections, *self._outages}
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.ledger.close()

    async def arm(self, *faults: Fault) -> None:
        """Faults that wait for a request are kept; the others happen before this returns."""
        for fault in faults:
            if fault.kind in STDIO_ONLY:
                raise ValueError(f"{fault.kind} is a fault of stdio servers")
            self.armed.arm(fault)
        while fault := self.armed.take_pressing():
            await self._perform(fault)

    def open_session(self) -> str:
        name = os.urandom(16).hex()
        self.sessions[name] = Session()
        self.ledger.note("session", name)
        return name

    def drop_session(self, name: str) -> None:
        self.sessions.pop(name).news.put_nowait(None)
        self.ledger.note("ended", name)

    def subscribe(self, name: Id) -> "asyncio.Queue[Message | None]":
        news: asyncio.Queue[Message | None] = asyncio.Queue()
        self._subscribers[news] = name
        return news

    def unsubscribe(self, news: "asyncio.Queue[Message | None]") -> None:
        del self._subscribers[news]

    async def _perform(self, fault: Fault) -> None:
        match fault.kind:
            case "expire":
                self.lost = fault
                for name in list(self.sessions):
                    self.drop_session(name)
            case "refuse":
                self._close_listener()
                for connection in self._connections.values():
                    connection.reset()
                outage = asyncio.create_task(self._reopen(fault.seconds))
                self._outages.add(outage)
                outage.add_done_callback(self._outages.discard)
            case "storm":
                self._announce(fault.times)
            case "describe":
                self.answers.description = fault.text
                self._announce(1)
            case "schema":
                self.answers.extra = True
                self._announce(1)
            case _:
                raise ValueError(f"{fault.kind} does not happen by itself: it needs a request")

    def _announce(self, times: int) -> None:
        for _ in range(times):
            for session in self.sessions.values():
                session.news.put_nowait(changed())
            for news, name in self._subscribers.items():
                news.put_nowait(changed(name))

    async def _open(self) -> None:
        self._listener = await asyncio.start_server(self._accept, HOST, self.port, limit=HEAD_LIMIT, backlog=1024)
        self.port = self._listener.sockets[0].getsockname()[1]

    async def _reopen(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
        await self._open()

    def _close_listener(self) -> None:
        if self._listener:
            self._listener.close()
            self._listener = None

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = Connection(reader, writer)
        task = asyncio.create_task(self._serve(connection))
        self._connections[task] = connection
        task.add_done_callback(self._connections.pop)

    async def _serve(self, connection: Connection) -> None:
        self.ledger.note("opened")
        try:
            while head := await connection.read_head():
                match head.path:
                    case "/mcp":
                        await Exchange(self, connection, head).run()
                    case "/chaos":
                        await self._control(connection, head)
                    case _:
                        await connection.send(404)
        except (Ended, ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            self.ledger.note("closed")
            connection.close()

    async def _control(self, connection: Connection, head: Head) -> None:
        """GET gives the counts; POST arms one fault or a list of them."""
        body = await connection.read_body(head)
        if head.verb == "POST":
            try:
                wanted = msgspec.json.decode(body, type=list[Fault] | Fault)
                await self.arm(*(wanted if isinstance(wanted, list) else [wanted]))
            except (msgspec.MsgspecError, ValueError) as error:
                return await connection.send(400, str(error).encode(), kind="text/plain")
        await connection.send(200, msgspec.json.encode(self.counts))
