"""The MCP servers of a process: made from the settings, kept as the settings say, closed with the process."""

import asyncio
import logging
from collections.abc import Callable, Mapping

from hermes import config
from hermes.config import McpServer, Settings
from hermes.mcp.make import make_server
from hermes.mcp.reconnects import reconnect_requests
from hermes.mcp.server import Server
from hermes.mcp.servers import Servers
from hermes.protocol.errors import UserError

log = logging.getLogger(__name__)
LOOK_EVERY = 1.0


class Connections:
    """Servers that follow config.yaml while it changes, and the wishes of `hermes mcp reconnect` from other processes.

    `told` hears of the entries of mcp_servers whenever they are read anew.
    """

    def __init__(
        self, settings: Settings, redact: Callable[[str], str], told: Callable[[Mapping[str, McpServer]], None]
    ) -> None:
        self._settings, self._redact, self._told = settings, redact, told
        self.servers = Servers(settings.file.mcp_servers, self._make)
        self._tasks: list[asyncio.Task[None]] = []

    def start(self) -> None:
        self.servers.start()
        self._tasks.append(asyncio.create_task(self._heed_wishes()))
        if self._settings.file.mcp.auto_reload_on_config_change:
            self._tasks.append(asyncio.create_task(self._follow_settings()))

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await self.servers.close()

    async def reload(self) -> None:
        """Take in what config.yaml says of servers by now; UserError if it cannot be read, and then nothing changes."""
        fresh = config.load(self._settings.shell)
        self._told(fresh.file.mcp_servers)
        await self.servers.reload(fresh.file.mcp_servers)

    async def _follow_settings(self) -> None:
        seen = self._stamp()
        while True:
            await asyncio.sleep(LOOK_EVERY)
            if (stamp := self._stamp()) != seen:
                seen = stamp
                try:
                    await self.reload()
                except UserError as error:
                    log.warning("MCP servers stay as they are: %s", error)

    async def _heed_wishes(self) -> None:
        async for name in reconnect_requests(self._settings.home):
            if server := self.servers.get(name):
                server.reconnect()

    def _stamp(self) -> tuple[int, int]:
        try:
            found = self._settings.config_path.stat()
        except OSError:
            return 0, 0
        return found.st_mtime_ns, found.st_ino

    def _make(self, name: str, entry: McpServer) -> Server:
        return make_server(name, entry, self._settings, redact=self._redact)
