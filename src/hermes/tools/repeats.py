"""Calls that come to the same again and again: the model is told so, and if the settings say so the call is not run."""

from collections import Counter, defaultdict
from collections.abc import Callable
from typing import Any

import msgspec
from msgspec.structs import replace

from hermes.config import LoopCounts, ToolLoopGuardrails
from hermes.protocol.errors import Denied, HermesError, StoreError, ToolError
from hermes.protocol.items import Text
from hermes.protocol.tools import Result, Tool, ToolContext

REMEMBERED = 1_000
LOOKING = ("read", "search", "fetch")
"""Kinds of tools that give the same while nothing changes; what a person answers, say, is of another kind."""

Call = tuple[str, bytes]
"""The name of a tool and the arguments."""


class Counts:
    """How often calls came to the same within one turn, as far as no effect since may have changed what will happen."""

    def __init__(self, turn: int) -> None:
        self.turn = turn
        self.failures: defaultdict[Call, Counter[int]] = defaultdict(Counter)
        self.results: defaultdict[Call, Counter[int]] = defaultdict(Counter)
        self.in_a_row: Counter[str] = Counter()

    def before(self, call: Call, limits: LoopCounts) -> str:
        """Why a call should not be run once more; "" if it may."""
        exact, same = (max(seen.get(call, {}).values(), default=0) for seen in (self.failures, self.results))
        return _loop(call, limits, exact=exact, in_a_row=self.in_a_row[call[0]], same=same)

    def failed(self, call: Call, outcome: int, limits: LoopCounts) -> str:
        """Count a failure; returns what repeats itself, if anything does."""
        self.in_a_row[call[0]] += 1
        return _loop(call, limits, exact=_count(self.failures, call, outcome), in_a_row=self.in_a_row[call[0]])

    def went_well(self, call: Call) -> None:
        """A call worked: whatever it failed of before is over."""
        self.failures.pop(call, None)
        self.in_a_row.pop(call[0], None)

    def changed(self) -> None:
        """An effect went well: what failed before may work now."""
        self.failures.clear()
        self.in_a_row.clear()

    def seen(self, call: Call, outcome: int, limits: LoopCounts) -> str:
        """Count a result of looking; returns that it repeats itself, if it does."""
        return _loop(call, limits, same=_count(self.results, call, outcome))


class Repeats:
    """Watches the tools of a session, all of them together: one may change what another will give."""

    def __init__(self, settings: ToolLoopGuardrails, turn: Callable[[], int]) -> None:
        self._settings = settings
        self._turn = turn
        self._counts = Counts(0)

    def watched(self, tool: Tool) -> Tool:
        """The tool, with a word more in a result that repeats itself."""
        name = tool.spec.name
        acts = tool.effect and tool.kind != "think"
        looks = not tool.effect and tool.kind in LOOKING
        warn_after = self._settings.warn_after

        async def run(ctx: ToolContext, args: Any) -> Result:
            counts = self._of_this_turn()
            call = name, msgspec.json.encode(args, order="deterministic")
            if self._settings.hard_stop_enabled and (why := counts.before(call, self._settings.hard_stop_after)):
                raise ToolError(f"{name} did not run: {why}. Do something else, or say what stands in the way.")
            try:
                result = await tool.run(ctx, args)
            except (Denied, StoreError):
                # A refusal says already that the same must not be tried again.
                raise
            except HermesError as error:
                if told := self._told(counts.failed(call, hash(str(error)), warn_after), "; do something else"):
                    raise ToolError(f"{error}\n{told}") from error
                raise
            finally:
                if acts:
                    # One that failed may have changed something all the same.
                    counts.results.clear()
            if result.failed:
                return self._with(result, counts.failed(call, hash(result.parts), warn_after), "; do something else")
            counts.went_well(call)
            if acts:
                counts.changed()
            return self._with(result, counts.seen(call, hash(result.parts), warn_after)) if looks else result

        return replace(tool, run=run)

    def _of_this_turn(self) -> Counts:
        if (turn := self._turn()) != self._counts.turn:
            self._counts = Counts(turn)
        return self._counts

    def _told(self, loop: str, advice: str = "") -> str:
        return f"[{loop}{advice}]" if loop and self._settings.warnings_enabled else ""

    def _with(self, result: Result, loop: str, advice: str = "") -> Result:
        told = self._told(loop, advice)
        return replace(result, parts=(*result.parts, Text(told))) if told else result


def _count(seen: defaultdict[Call, Counter[int]], call: Call, outcome: int) -> int:
    if len(seen) >= REMEMBERED and call not in seen:
        seen.clear()
    seen[call][outcome] += 1
    return seen[call][outcome]


def _loop(call: Call, limits: LoopCounts, *, exact: int = 0, in_a_row: int = 0, same: int = 0) -> str:
    """What repeats itself too often, in words."""
    if exact >= limits.exact_failure:
        return f"this very call has failed {exact} times in the same way"
    if in_a_row >= limits.same_tool_failure:
        return f"{call[0]} has failed {in_a_row} times in a row"
    if same >= limits.no_progress:
        return f"this very call has given the same {same} times; nothing has changed since"
    return ""
