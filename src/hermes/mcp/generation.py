"""One connection to a server, from its first byte to its last. It imports the SDK: load it in a thread, when needed."""

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator, Callable, Mapping
from typing import Any

import httpx2
import mcp_types as types
import msgspec
from mcp import Client, MCPError
from mcp.client.sse import sse_client
from mcp.client.streamable_http import streamable_http_client
from mcp.client.subscriptions import SubscriptionLost
from mcp_types.version import MODERN_PROTOCOL_VERSIONS

from hermes import __version__
from hermes.config import McpServer
from hermes.mcp import faults
from hermes.mcp.asking import Handlers
from hermes.mcp.catalog import read_catalog
from hermes.mcp.clock import Clock, either
from hermes.mcp.contract import Authority, Caller, Catalog, Fault, Operation
from hermes.mcp.environment import child_env
from hermes.mcp.exchange import CallFailed, Exchange, current
from hermes.mcp.operations import ask, explain, ping, send
from hermes.mcp.pipe import Pipe
from hermes.mcp.stdio import StdioProcess
from hermes.mcp.wire import LIMIT, Wire, open_transport

log = logging.getLogger(__name__)
DRAIN = 10.0
LEAVE = 6.0
LISTEN_AGAIN = 5.0
SAID = 200
SEEN = 0.1


class Generation:
    """A connected client with the calls that run on it. One task enters and leaves the SDK's contexts.

    `ended` is set when nothing can be sent any more. `legacy` says that the server is known to speak the old protocol.
    """

    def __init__(
        self,
        name: str,
        settings: McpServer,
        *,
        environ: Mapping[str, str],
        authority: Authority | None,
        handlers: Handlers | None,
        clock: Clock,
        legacy: bool,
        changed: Callable[[], None],
    ) -> None:
        self._name, self._settings, self._environ = name, settings, environ
        self._authority, self._handlers, self._clock = authority, handlers, clock
        self._changed = changed
        self._open, self._leave, self._idle = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self._idle.set()
        self._task: asyncio.Task[None] | None = None
        self._client: Client | None = None
        self._wire: Wire | None = None
        self._calls: dict[int, Exchange] = {}
        self._hello = Exchange()
        self._failure: Exception | None = None
        self.legacy = legacy
        self.process: StdioProcess | None = None
        self.ended = asyncio.Event()
        self.catalog = Catalog()
        self.protocol = ""
        self.last_used = clock.monotonic()

    # Opening and leaving

    async def open(self) -> None:
        """Connect and read the catalog; CallFailed says why not."""
        self._task = asyncio.create_task(self._live(), name=f"mcp-{self._name}")
        try:
            ready = await either(self._clock, self._settings.connect_timeout, self._open)
        except asyncio.CancelledError:
            self._task.cancel()
            raise
        if ready and self._failure is None:
            return
        if not ready:
            self._task.cancel()
            text = f"no connection within {self._settings.connect_timeout:g} s"
            raise CallFailed(text, Fault(kind="silent", text=text))
        assert self._failure is not None
        if self._client is None and self._wire and (barred := self._wire.barred):
            # The SDK goes on with the old protocol's greeting, and then only that is known to be refused.
            raise CallFailed(barred.text, barred)
        raise await self._why(self._failure, self._hello)

    async def _live(self) -> None:
        current.set(self._hello)
        self._hello.task = asyncio.current_task()
        listener = watcher = None
        try:
            async with self._transport() as transport, self._connect(transport) as client:
                self._client, self.protocol = client, client.protocol_version
                self.legacy = client.protocol_version not in MODERN_PROTOCOL_VERSIONS and not self._is_unsure()
                self.catalog = await read_catalog(client)
                self._hello.task = None
                self._open.set()
                watcher = asyncio.create_task(self._notice_exit())
                listener = asyncio.create_task(self._listen(client))
                await self._leave.wait()
                listener.cancel()
        except asyncio.CancelledError:
            if self._hello.task is None or self._hello.fault is None:
                raise
            self._failure = CallFailed(self._hello.fault.text, self._hello.fault)
        except Exception as error:  # the SDK's task groups raise whatever a server made of them
            self._failure = error
            log.debug("%s: the connection ended", self._name, exc_info=error)
        finally:
            for task in (listener, watcher):
                if task is not None:
                    task.cancel()
            self.ended.set()
            self._open.set()

    def _connect(self, transport: Any) -> Client:
        asked = dict(self._handlers.callbacks(self.caller)) if self._handlers else {}
        if "elicitation_callback" in asked:
            asked["elicitation_callback"] = self._pausing(asked["elicitation_callback"])
        old = self.legacy or self._settings.transport == "sse"
        return Client(
            transport,
            mode="legacy" if old else "auto",
            cache=None,
            client_info=types.Implementation(name="hermes", version=__version__),
            message_handler=self._heard,
            **asked,
        )

    @contextlib.asynccontextmanager
    async def _transport(self) -> AsyncIterator[Any]:
        settings = self._settings
        if not settings.url:
            env = child_env(self._environ, settings.env)
            command = (settings.command, *settings.args)
            self.process = StdioProcess(self._name, command, env=env, cwd=settings.cwd, log=self._printed)
            yield Pipe(self.process)
            return
        by_stream = settings.transport == "sse"
        inner = await open_transport(self._name, settings)
        self._wire = wire = Wire(inner, self._authority, by_stream=by_stream, ended=self.ended.set)
        timeout = httpx2.Timeout(None, connect=settings.connect_timeout)
        client = httpx2.AsyncClient(transport=wire, headers=settings.headers, timeout=timeout, trust_env=False)
        if by_stream:
            yield sse_client(settings.url, httpx_client_factory=lambda headers=None, timeout=None, auth=None: client)
            return
        async with client:
            yield streamable_http_client(settings.url, http_client=client, max_sse_event_size=LIMIT)

    def _is_unsure(self) -> bool:
        return self._wire is not None and self._wire.era_unsure

    def _printed(self, line: str) -> None:
        log.info("%s: %s", self._name, line)

    async def _notice_exit(self) -> None:
        if self.process:
            await self.process.exited.wait()
            self.ended.set()

    async def drain(self) -> None:
        """Let the calls on it end, at most 10 s, and leave."""
        if not self.ended.is_set():
            await either(self._clock, DRAIN, self._idle)
        await self.close()

    async def close(self) -> None:
        """Leave now; whatever still runs on it ends."""
        self._leave.set()
        if self._task is None:
            return
        done, _ = await asyncio.wait([self._task], timeout=LEAVE)
        if not done:
            self._task.cancel()
            await asyncio.wait([self._task])

    def forget_session(self) -> None:
        """The server does not know the session any more: do not ask it to end it."""
        if self._wire:
            self._wire.session_lost = True

    @property
    def session_lost(self) -> bool:
        return self._wire is not None and self._wire.session_lost

    @property
    def authorization(self) -> str:
        """The header that was shown when it connected."""
        return self._hello.authorization

    # Calls

    @property
    def busy(self) -> bool:
        return bool(self._calls)

    async def call(self, operation: Operation, exchange: Exchange) -> Any:
        """The SDK's result of an operation; CallFailed with the fault, if it was one."""
        return await self._do(exchange, lambda client: send(client, operation, exchange))

    async def probe(self) -> None:
        """A harmless request on this very session; CallFailed if it is not answered as it should."""
        try:
            await self._do(Exchange(), ask)
        except CallFailed as error:
            if error.fault is not None or error.code != faults.METHOD_NOT_FOUND:
                raise

    async def ping(self) -> None:
        """The cheapest sign of life. The new protocol has none, and needs none: it has no session to keep."""
        if self.protocol not in MODERN_PROTOCOL_VERSIONS:
            await self._do(Exchange(), ping)

    async def refresh(self) -> Catalog:
        self.catalog = await self._do(Exchange(), read_catalog)
        return self.catalog

    async def _do(self, exchange: Exchange, work: Callable[[Client], Any]) -> Any:
        if self._client is None or self.ended.is_set():
            raise CallFailed("the connection is gone", Fault(kind="refused", text="the connection is gone", sent=False))
        token = current.set(exchange)
        exchange.task = asyncio.current_task()
        self._calls[id(exchange)] = exchange
        self._idle.clear()
        try:
            return await work(self._client)
        except asyncio.CancelledError:
            if exchange.fault is None:
                raise
            raise CallFailed(exchange.fault.text, exchange.fault) from None
        except Exception as error:
            raise await self._why(error, exchange) from error
        finally:
            current.reset(token)
            del self._calls[id(exchange)]
            self.last_used = self._clock.monotonic()
            if not self._calls:
                self._idle.set()

    async def _why(self, error: Exception, exchange: Exchange) -> CallFailed:
        failed = explain(error, exchange)
        if failed.fault is None or failed.fault.kind not in ("cut", "refused") or self.process is None:
            return failed
        # A process closes its pipes a moment before it can be seen to have ended.
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.process.exited.wait(), SEEN)
        text = _last_words(self.process) if self.process.exited.is_set() else failed.fault.text
        return CallFailed(text, msgspec.structs.replace(failed.fault, text=text))

    # What the server says by itself

    def caller(self) -> Caller | None:
        """For whom the call is made that a server's wish belongs to."""
        exchange = self._asking()
        return exchange.caller if exchange else None

    def _asking(self) -> Exchange | None:
        """The call whose own task this is; else, as the old protocol does not tell, the newest one."""
        here = current.get()
        if here is not None and id(here) in self._calls:
            return here
        return next((one for one in reversed(self._calls.values()) if one.caller), None)

    def _pausing(self, callback: Callable[..., Any]) -> Callable[..., Any]:
        async def ask(context: Any, params: Any) -> Any:
            exchange = self._asking()
            with exchange.deadline.paused() if exchange and exchange.deadline else contextlib.nullcontext():
                return await callback(context, params)

        return ask

    async def _heard(self, message: Any) -> None:
        lists = types.ToolListChangedNotification | types.PromptListChangedNotification
        if isinstance(message, lists | types.ResourceListChangedNotification):
            self._changed()

    async def _listen(self, client: Client) -> None:
        """The new protocol tells of changed lists only to those who subscribe."""
        if self.protocol not in MODERN_PROTOCOL_VERSIONS:
            return
        offers = client.server_capabilities
        kinds = {"tools": offers.tools, "prompts": offers.prompts, "resources": offers.resources}
        wanted: dict[str, Any] = {
            f"{kind}_list_changed": True for kind, offer in kinds.items() if offer and offer.list_changed
        }
        current.set(Exchange())
        while wanted and not self.ended.is_set():
            try:
                async with client.listen(**wanted) as events:
                    async for _ in events:
                        self._changed()
            except MCPError as error:
                log.debug("%s: no notices of changed lists: %s", self._name, error)
                return
            except SubscriptionLost:
                await self._clock.sleep(LISTEN_AGAIN)
                self._changed()


def _last_words(process: StdioProcess) -> str:
    said = next((line.strip() for line in reversed(process.stderr_tail().split("\n")) if line.strip()), "")
    return f"its process ended with code {process.code}" + (f": {said[:SAID]}" if said else "")
