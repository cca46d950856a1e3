"""How fast the MCP client is back after each kind of loss, beside what the same thing takes without one."""

from collections.abc import Iterator
from statistics import median

import msgspec

from bench.cost import Failed
from bench.servers import fault_server
from bench.stage import Stage
from bench.table import Limit, Row

MANY = 64
Figures = dict[str, float]


def measure(stage: Stage) -> Iterator[Row]:
    with fault_server() as url:
        yield _stale(_trials(stage, "stale", url, 5))
        yield _outage(_trials(stage, "outage", url, 3))
        yield from _death(_trials(stage, "death", url, 5))
        yield from _interrupt(_trials(stage, "interrupt", url, 5))


def _stale(trials: list[Figures]) -> Row:
    _all_answered(trials)
    worst = max(trial["initializations"] for trial in trials)
    if worst != 1:
        raise Failed(f"a forgotten session was opened anew {worst:.0f} times")
    return Row(
        what=f"{MANY} MCP calls over a stale session, wall",
        value=_middle(trials, "taken"),
        unit="ms",
        floor=_middle(trials, "sound"),
        beside=f"over a sound one; {MANY} of {MANY} answered, 1 re-init",
    )


def _outage(trials: list[Figures]) -> Row:
    _all_answered(trials)
    return Row(
        what=f"{MANY} MCP calls in an outage of 1.5 s, after the port opens",
        value=_middle(trials, "taken"),
        unit="ms",
        beside=f"{MANY} of {MANY} answered",
        bar=Limit(value=1000),
    )


def _death(trials: list[Figures]) -> Iterator[Row]:
    yield Row(what="death of an MCP process noticed", value=_middle(trials, "noticed"), unit="ms", bar=Limit(value=100))
    start = _middle(trials, "start")
    yield Row(
        what="MCP process started anew after its death",
        value=_middle(trials, "back"),
        unit="ms",
        floor=start,
        beside="its own start; the bar is that plus 0.3 s",
        bar=Limit(value=start + 300),
    )


def _interrupt(trials: list[Figures]) -> Iterator[Row]:
    for name, way in (("http", "HTTP"), ("stdio", "stdio"), ("stuck", "a wedged writer")):
        yield Row(
            what=f"interrupt of an MCP call to return, {way}",
            value=max(trial[name] for trial in trials),
            unit="ms",
            beside=f"the slowest of {len(trials)}",
            bar=Limit(value=50),
        )


def _trials(stage: Stage, what: str, url: str, times: int) -> list[Figures]:
    count = stage.scale(times, 1)
    return [msgspec.json.decode(stage.program("recovery", what, url).out, type=Figures) for _ in range(count)]


def _all_answered(trials: list[Figures]) -> None:
    fewest = min(trial["done"] for trial in trials)
    if fewest != MANY:
        raise Failed(f"of {MANY} MCP calls {fewest:.0f} were answered")


def _middle(trials: list[Figures], name: str) -> float:
    return median(trial[name] for trial in trials)
