"""A stdio server as a transport of the SDK that notes, for each call, whether its request went on its way."""

from types import TracebackType
from typing import TYPE_CHECKING, Any

from anyio import ClosedResourceError

from hermes.mcp.exchange import current
from hermes.mcp.stdio import StdioProcess

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams


class Pipe:
    """The streams of a process, the writing one watched: a request to a process that is gone was not sent."""

    def __init__(self, process: StdioProcess) -> None:
        self._process = process

    async def __aenter__(self) -> "TransportStreams":
        read, write = await self._process.__aenter__()
        return read, _Watched(write, self._process)

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._process.__aexit__(kind, error, trace)


class _Watched:
    def __init__(self, inner: Any, process: StdioProcess) -> None:
        self._inner, self._process = inner, process

    async def send(self, item: Any, /) -> None:
        if self._process.exited.is_set():
            raise ClosedResourceError
        exchange = current.get()
        if exchange:
            exchange.sent = True
        await self._inner.send(item)

    async def aclose(self) -> None:
        await self._inner.aclose()

    async def __aenter__(self) -> "_Watched":
        return self

    async def __aexit__(
        self, exc_type: type[BaseException] | None, exc_val: BaseException | None, exc_tb: TracebackType | None
    ) -> None:
        await self.aclose()
