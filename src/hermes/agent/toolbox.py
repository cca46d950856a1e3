"""The tools of one session: those that the model is told of, and those that it can still reach by name."""

from collections.abc import Iterator, Sequence
from typing import Protocol

from hermes.protocol.models import ToolSpec
from hermes.protocol.tools import Tool


class Supply(Protocol):
    """Tools that come and go while a session lives, such as those of MCP servers."""

    async def settle(self) -> None:
        """Wait, not for long, until what is on its way has come; the first turn does this before it asks the model."""
        ...

    def offered(self) -> Sequence[Tool]:
        """The tools that the model should be told of from the next turn on."""
        ...

    def find(self, name: str) -> Tool | None:
        """A tool by its exact name, whether the model was told of it or not."""
        ...


class Toolbox:
    """What the model is told stays the same, byte for byte, until `renew`; what it can call is always up to date."""

    def __init__(self, tools: Sequence[Tool], supply: Supply | None = None) -> None:
        self.specs: tuple[ToolSpec, ...] = ()
        self._supply = supply
        self.settled = supply is None
        self._own: dict[str, Tool] = {}
        self._told: dict[str, Tool] = {}
        self.use(tools)

    def use(self, tools: Sequence[Tool]) -> None:
        """Have these tools from now on, with what the supply offers."""
        self._own = {tool.spec.name: tool for tool in tools}
        self.renew()

    def renew(self) -> bool:
        """Tell the model of what the supply offers by now; False if it is what it was told before."""
        before = self.specs
        # Our own first, and on a collision: what comes and goes changes only the end of the prefix.
        self._told = dict(self._own)
        for tool in self._supply.offered() if self._supply else ():
            self._told.setdefault(tool.spec.name, tool)
        self.specs = tuple(tool.spec for tool in self._told.values())
        return self.specs != before

    async def settle(self) -> None:
        """Before the first model call: give what is still on its way a moment."""
        if self._supply is not None and not self.settled:
            await self._supply.settle()
            self.settled = True

    def get(self, name: str) -> Tool | None:
        """A tool by its name. Of one that the supply has anew since the model was told, the new one."""
        found = self._supply.find(name) if self._supply and name not in self._own else None
        return self._own.get(name) or found or self._told.get(name)

    @property
    def own(self) -> tuple[str, ...]:
        """The names of the session's own tools, without what the supply offers."""
        return tuple(self._own)

    @property
    def told(self) -> tuple[Tool, ...]:
        """The tools that the model knows of."""
        return tuple(self._told.values())

    def __iter__(self) -> Iterator[str]:
        return iter(self._told)

    def __len__(self) -> int:
        return len(self._told)
