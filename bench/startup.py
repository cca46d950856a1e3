"""How long until Hermes is there at all, against an interpreter that does nothing."""

from collections.abc import Iterator

from bench.cost import cpu, run
from bench.stage import PYTHON, Stage
from bench.table import Limit, Row


def measure(stage: Stage) -> Iterator[Row]:
    ours, floor = stage.alternate(
        25,
        lambda: stage.hermes("--version"),
        lambda: run([PYTHON, "-c", "pass"], env=stage.env, cwd=stage.work),
    )
    yield Row(
        what="start-up: ./hermes --version, CPU",
        value=cpu(ours),
        unit="ms",
        floor=cpu(floor),
        beside="python -c pass",
        bar=Limit(ratio=3),
        aim=Limit(ratio=2.5),
    )
