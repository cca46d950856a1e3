"""Calls that fail again in the very same way: the model is told to do something else."""

from collections import Counter
from typing import Any

import msgspec
from msgspec.structs import replace

from hermes.protocol.errors import Denied, TerminalError, ToolError
from hermes.protocol.items import Text
from hermes.protocol.tools import Result, Tool, ToolContext

REMEMBERED = 1_000


class Repeats:
    """The failures of a session since its last effect that went well, which may have changed what will happen."""

    def __init__(self) -> None:
        self._failures: Counter[tuple[str, bytes, str]] = Counter()

    def watched(self, tool: Tool) -> Tool:
        """The tool, with a word more in a result that is the same failure as before."""

        async def run(ctx: ToolContext, args: Any) -> Result:
            try:
                result = await tool.run(ctx, args)
            except Denied:
                # It says already that the same must not be tried again.
                raise
            except (ToolError, TerminalError) as error:
                if told := self._told(tool, args, str(error)):
                    raise ToolError(f"{error}\n{told}") from error
                raise
            if result.failed:
                text = "\n".join(part.text for part in result.parts if isinstance(part, Text))
                told = self._told(tool, args, text)
                return replace(result, parts=(*result.parts, Text(told))) if told else result
            if tool.effect:
                self._failures.clear()
            return result

        return replace(tool, run=run)

    def _told(self, tool: Tool, args: Any, text: str) -> str:
        if len(self._failures) >= REMEMBERED:
            self._failures.clear()
        failure = tool.spec.name, msgspec.json.encode(args), text
        self._failures[failure] += 1
        times = self._failures[failure]
        return f"[this very call has failed {times} times in the same way; do something else]" if times > 1 else ""
