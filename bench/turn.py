"""One question, one answer in a fresh process, against a bare program that does the same; time and memory."""

from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import msgspec

from bench import wal
from bench.cost import Cost, Failed, cpu, peak
from bench.stage import Stage
from bench.table import Limit, Row


def measure(stage: Stage) -> Iterator[Row]:
    floor, commits = bare_turn(stage)
    ours, bare = stage.alternate(15, lambda: ask(stage), floor)
    yield Row(
        what="one-shot turn, cold: hermes -z hi, CPU",
        value=cpu(ours),
        unit="ms",
        floor=cpu(bare),
        beside=f"bare: same imports, request, {commits} commits",
        bar=Limit(ratio=1.7, value=450),
        aim=Limit(ratio=1.3, value=350),
    )
    yield Row(
        what="one-shot turn, peak memory",
        value=peak(ours),
        unit="MB",
        floor=peak(bare),
        beside="the same bare program",
    )


def ask(stage: Stage) -> Cost:
    cost = stage.hermes("-z", "hi")
    if cost.out != "hi\n":
        raise Failed(f"hermes -z hi printed {cost.out!r}")
    return cost


@cache
def bare_turn(stage: Stage) -> tuple[Callable[[], Cost], int]:
    """The bare program for the request that Hermes sends and the commits it makes, and how many those are. Found once."""
    ask(stage)
    commits = wal.commits_of(lambda: ask(stage), stage.home / "state.db")
    folder = stage.fresh("bare")
    body = folder / "body.json"
    body.write_bytes(msgspec.json.encode(stage.bodies()[-1]))
    url = f"{stage.base_url}/chat/completions"
    arguments: tuple[str | Path, ...] = (url, body, folder / "bare.db", str(commits))
    return lambda: stage.program("bare", *arguments), commits
