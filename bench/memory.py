"""What a session holds and uses while nobody says anything."""

from collections.abc import Iterator

from bench.cost import least, peak
from bench.stage import Stage
from bench.table import Row
from bench.turn import bare_turn


def measure(stage: Stage) -> Iterator[Row]:
    floor, _ = bare_turn(stage)
    settle, seconds = stage.scale(("4", "5"), ("0.5", "0.5"))
    ours, bare = stage.alternate(3, lambda: stage.program("idle", settle, seconds), floor)
    yield Row(
        what="idle session, peak memory",
        value=peak(ours),
        unit="MB",
        floor=peak(bare),
        beside="bare one-shot program",
    )
    yield Row(
        what="idle session, CPU of one second",
        value=least(float(cost.out) for cost in ours),
        unit="ms",
    )
