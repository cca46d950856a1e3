"""The tools of a session's MCP servers: which ones the model is told of, and for whom they are called."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from hermes.mcp.contract import Catalog, Sample, Status
from hermes.mcp.server import Server
from hermes.mcp.servers import Servers
from hermes.mcp.tools import server_tools
from hermes.protocol.events import Answered, Request
from hermes.protocol.tools import Tool, ToolContext
from hermes.tools.tool_search import search_and_call

BYTES_PER_TOKEN = 4
Sampler = Callable[[str, Sample], Awaitable[Mapping[str, Any]]]


class SessionCaller:
    """Implements Caller for one tool call of a session."""

    def __init__(self, ctx: ToolContext, roots: tuple[str, ...], sampler: Sampler) -> None:
        self.session = ctx.session
        self.roots = roots
        self._ctx = ctx
        self._sampler = sampler

    async def ask(self, request: Request, timeout: float) -> Answered | None:
        return await self._ctx.ask(request, timeout)

    async def sample(self, server: str, wish: Sample) -> Mapping[str, Any]:
        return await self._sampler(server, wish)

    def progress(self, text: str) -> None:
        self._ctx.emit("progress", f"{text}\n")


class ServerSupply:
    """Implements the agent's Supply. Several sessions share the servers, and each has a supply of its own.

    Servers whose tools fit into `room` tokens together, in the order of the settings, are in the prompt; the tools of the
    others, and of those that come late, are found by tool_search. Where `room` is None everything is in the prompt.
    """

    def __init__(
        self,
        servers: Servers,
        *,
        chosen: Callable[[str], bool],
        room: int | None,
        patience: float,
        roots: Callable[[], tuple[str, ...]],
        sampler: Sampler,
        watched: Callable[[Tool], Tool],
    ) -> None:
        self.servers = servers
        self.settled = asyncio.Event()
        self._chosen = chosen
        self._room = room
        self._patience = patience
        self._caller = lambda ctx: SessionCaller(ctx, roots(), sampler)
        self._made: dict[str, tuple[Catalog, tuple[Tool, ...]]] = {}
        self._last: dict[str, tuple[Tool, ...]] = {}
        self._watched = watched
        find, call = search_and_call(self.everything)
        # What is called through the other one is watched itself.
        self._search = (watched(find), call)

    async def settle(self) -> None:
        await self.servers.settle(self._patience)
        self.settled.set()

    def statuses(self) -> list[Status]:
        return [server.status() for server in self._mine()]

    def offered(self) -> Sequence[Tool]:
        if self._room is None:
            return self.everything()
        told: list[Tool] = []
        room = self._room * BYTES_PER_TOKEN
        for tools in self._by_server():
            size = sum(len(bytes(tool.spec.schema)) + len(tool.spec.description) for tool in tools)
            if size <= room:
                told += tools
                room -= size
        return [*self._search, *told] if self._mine() else told

    def find(self, name: str) -> Tool | None:
        """Also a tool of a server that was given up: calling it is what revives the server."""
        there = (*self._search, *self.everything()) if self._room is not None else self.everything()
        given_up = [tool for server in self._mine() for tool in self._last.get(server.name, ())]
        return next((tool for tool in (*there, *given_up) if tool.spec.name == name), None)

    def described(self) -> list[tuple[str, str]]:
        """What each tool that can be called says about itself, after the name of its server."""
        return [
            (server.name, f"{tool.spec.description}\n{bytes(tool.spec.schema).decode()}")
            for server, tools in zip(self._mine(), self._by_server(), strict=True)
            for tool in tools
        ]

    def everything(self) -> Sequence[Tool]:
        """Whatever can be called at this moment."""
        return [tool for tools in self._by_server() for tool in tools]

    def _by_server(self) -> list[tuple[Tool, ...]]:
        return [self._tools(server) for server in self._mine()]

    def _mine(self) -> list[Server]:
        return [server for server in self.servers.all() if self._chosen(server.name)]

    def _tools(self, server: Server) -> tuple[Tool, ...]:
        catalog, tools = self._made.get(server.name, (None, ()))
        if catalog is not server.catalog:
            tools = tuple(map(self._watched, server_tools(server, server.settings, self._caller)))
            self._made[server.name] = (server.catalog, tools)
            self._last[server.name] = tools or self._last.get(server.name, ())
        return tools
