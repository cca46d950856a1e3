"""All MCP servers of one process: connected side by side in the background, replaced one by one when settings change."""

import asyncio
from collections.abc import Callable, Mapping

from hermes.config import McpServer
from hermes.mcp.contract import Status
from hermes.mcp.server import Server

Make = Callable[[str, McpServer], Server]


class Servers:
    """Made from mcp_servers; `make` builds one server with everything that it needs from elsewhere."""

    def __init__(self, settings: Mapping[str, McpServer], make: Make) -> None:
        self._settings, self._make = dict(settings), make
        self._servers: dict[str, Server] = {}
        self._watchers: list[Callable[[Server], None]] = []
        self._started = False

    def start(self) -> None:
        """Connect to all that are enabled, without waiting for any."""
        self._started = True
        for name, settings in self._settings.items():
            if settings.enabled:
                self._add(name, settings)

    def get(self, name: str) -> Server | None:
        return self._servers.get(name)

    def all(self) -> tuple[Server, ...]:
        return tuple(self._servers.values())

    async def settle(self, timeout: float) -> None:
        """Wait until each is ready or has failed once, at most so long in all."""
        await asyncio.gather(*(server.settled(timeout) for server in self._servers.values()))

    async def reload(self, settings: Mapping[str, McpServer]) -> None:
        """Add, remove and restart what differs; the others do not notice."""
        old, self._settings = self._settings, dict(settings)
        if not self._started:
            return
        wanted = {name: one for name, one in self._settings.items() if one.enabled}
        gone = [name for name in self._servers if wanted.get(name) != old.get(name)]
        closing = [self._servers.pop(name).close() for name in gone]
        for name, one in wanted.items():
            if name not in self._servers:
                self._add(name, one)
        await asyncio.gather(*closing)

    def watch(self, callback: Callable[[Server], None]) -> Callable[[], None]:
        """Have a function called after every change of state or catalog of any server; gives one that ends this."""
        self._watchers.append(callback)
        return lambda: self._watchers.remove(callback)

    def statuses(self) -> tuple[Status, ...]:
        return tuple(server.status() for server in self._servers.values())

    async def close(self) -> None:
        servers, self._servers = self._servers, {}
        await asyncio.gather(*(server.close() for server in servers.values()))

    def _add(self, name: str, settings: McpServer) -> None:
        server = self._servers[name] = self._make(name, settings)
        server.watch(self._tell)
        server.start()

    def _tell(self, server: Server) -> None:
        for callback in tuple(self._watchers):
            callback(server)
