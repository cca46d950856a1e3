"""Memory of one process: the notebook of its home, the tool of its sessions, and the block of their prompts."""

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from hermes.config import Settings
from hermes.learning.memory.tool import Arguments, memory_tool
from hermes.protocol.targets import Target
from hermes.protocol.tools import Result, Tool, ToolContext

if TYPE_CHECKING:
    from hermes.learning.memory.keeping import MemoryTool
    from hermes.learning.memory.notebook import Notebook
    from hermes.protocol.memories import Memories

FOLDER = "memories"


class OpenMemory:
    """What sessions share of memory; opened when it is first used. `item` finds the message that a session is about."""

    def __init__(self, settings: Settings, store: "Callable[[], Memories]", item: Callable[[str], str]) -> None:
        self._folder = settings.home / FOLDER
        self._settings = settings.file.memory
        self._store = store
        self._item = item

    @cached_property
    def notebook(self) -> "Notebook":
        from hermes.learning.memory.notebook import Notebook

        return Notebook(self._store(), self._folder, self._settings.limits)

    @cached_property
    def _tool(self) -> "MemoryTool":
        from hermes.learning.memory.keeping import MemoryTool

        kept = self._settings
        return MemoryTool(self.notebook, targets=kept.targets, ask_first=kept.write_approval, item=self._item)

    def tools(self) -> Sequence[Tool]:
        async def change(ctx: ToolContext, args: Arguments) -> Result:
            return await self._tool.change(ctx, args)

        return [memory_tool(change)]

    def block(self, beside: str = "") -> str:
        """What a new session's prompt says of it, with another text `beside` that takes its part of the room.

        It is read from the files alone, and free where there are none.
        """
        if not self._folder.is_dir():
            return beside
        from hermes.learning.memory.block import ROOM, snapshot
        from hermes.learning.memory.tokens import tokens

        limits: dict[Target, int] = {target: self._settings.limits[target] for target in self._settings.targets}
        return "\n\n".join(filter(None, (snapshot(self._folder, limits, ROOM - tokens(beside)), beside)))
