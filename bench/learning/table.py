"""One line for each arm of each suite, and the table they make."""

from collections.abc import Sequence

from msgspec import Struct

from bench import table
from tests.services.gated_model import Walk

HEAD = ("suite", "arm", "tasks", "right", "model calls", "tool steps", "tokens in", "cached", "goal", "measured", "ok")


class Line(Struct, frozen=True, kw_only=True):
    """What one arm gave. The walk is the sum of all its tasks; a goal stands on the line that it is judged by."""

    suite: str
    arm: str
    tasks: int
    walk: Walk | None = None
    goal: str = ""
    measured: str = ""
    ok: bool | None = None

    def cells(self) -> tuple[str, ...]:
        walk, tasks = self.walk, max(1, self.tasks)
        if walk is None:
            figures = ("", "", "", "", "")
        else:
            figures = (
                f"{walk.right / tasks:.0%}",
                f"{walk.calls / tasks:.1f}",
                f"{walk.steps / tasks:.1f}",
                f"{walk.tokens / tasks:,.0f}",
                f"{walk.cached / max(1, 4 * walk.tokens):.0%}",
            )
        verdict = {True: "yes", False: "MISSED", None: ""}[self.ok]
        return (self.suite, self.arm, f"{self.tasks:,}", *figures, self.goal, self.measured, verdict)


def judged(line: Line, goal: str, measured: str, ok: bool) -> Line:
    """The line with what it is judged by."""
    return Line(suite=line.suite, arm=line.arm, tasks=line.tasks, walk=line.walk, goal=goal, measured=measured, ok=ok)


def render(lines: Sequence[Line]) -> str:
    """The table as it is printed and as it stands in the docs."""
    return table.render(HEAD, [line.cells() for line in lines])
