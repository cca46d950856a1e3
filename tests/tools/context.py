"""A ToolContext over the real files and the real shell of this machine."""

import hashlib
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import msgspec

from hermes.protocol.actions import Action
from hermes.protocol.errors import StoreError
from hermes.protocol.events import Answered, Channel, Request
from hermes.protocol.items import PlanEntry, Text
from hermes.protocol.terminals import Files
from hermes.protocol.tools import Result, Tool, parse_args
from hermes.terminals.backends.local import LocalTerminal
from hermes.terminals.files import LocalFiles
from hermes.tools.toolsets import make_tools


class Context:
    """One session that records what its tools emit, post and ask; `answer` is what a person says."""

    def __init__(self, terminal: LocalTerminal, files: Files) -> None:
        self.session = "s1"
        self.terminal = terminal
        self.files = files
        self.plan: tuple[PlanEntry, ...] = ()
        self.answer: Answered | None = None
        self.clock = 0.0
        self.emitted: list[tuple[Channel, str]] = []
        self.posted: list[str] = []
        self.asked: list[tuple[Request, float]] = []
        self.blobs: dict[str, bytes] = {}
        self.tools: dict[str, Tool] = {tool.spec.name: tool for tool in make_tools(["all"])}

    async def do(self, name: str, **args: Any) -> Result:
        """Call a tool as a model does, with JSON."""
        return await self.call(name, msgspec.json.encode(args).decode())

    async def text(self, name: str, **args: Any) -> str:
        """The result of a call that is only text."""
        [part] = (await self.do(name, **args)).parts
        assert isinstance(part, Text)
        return part.text

    async def permit(self, action: Action) -> None:
        pass

    async def ask(self, request: Request, timeout: float) -> Answered | None:
        self.asked.append((request, timeout))
        return self.answer

    def emit(self, channel: Channel, text: str) -> None:
        self.emitted.append((channel, text))

    def set_plan(self, entries: tuple[PlanEntry, ...]) -> None:
        self.plan = entries

    def post(self, text: str) -> None:
        self.posted.append(text)

    async def call(self, name: str, args: str) -> Result:
        tool = self.tools[name]
        return await tool.run(self, parse_args(tool, args))

    async def keep(self, data: bytes, media_type: str) -> str:
        ref = hashlib.sha256(data).hexdigest()
        self.blobs[ref] = data
        return ref

    async def blob(self, ref: str) -> bytes:
        found = [data for name, data in self.blobs.items() if name.startswith(ref)]
        if len(found) != 1:
            raise StoreError(f"no stored data is named {ref!r}")
        return found[0]

    def now(self) -> float:
        return self.clock


@asynccontextmanager
async def context(folder: Path) -> AsyncIterator[Context]:
    """A session in a folder; what it left running is ended behind it."""
    env = {"PATH": os.defpath, "HOME": str(folder)}
    terminal = LocalTerminal(str(folder), env)
    try:
        yield Context(terminal, LocalFiles(lambda: terminal.cwd, env))
    finally:
        await terminal.close()
