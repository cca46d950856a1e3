"""What one tool step costs in Hermes' own process, against the same requests with two commits each.

A step is the difference between a turn with fifty tool calls and a turn with none, divided by fifty; the CPU is that
of the process itself (RUSAGE_SELF, read inside it as it ends), so what a command costs that a tool starts is left out;
so is what the bare program, in the same run, pays for starting the same command, sandbox and all, from its own process.
"""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from bench import wal
from bench.cost import Failed, least
from bench.sandbox import sandbox
from bench.stage import Stage
from bench.table import Limit, Row
from bench.turn import bare_turn
from hermes.protocol.events import ItemDone
from hermes.protocol.items import ToolCall
from hermes.protocol.safety import NO_GRANTS
from hermes.protocol.wire import decode_event

COMMAND = "true"
LINES = "".join(f"line {number} of a file that a tool reads\n" for number in range(20))


def measure(stage: Stage) -> Iterator[Row]:
    count = stage.scale(50, 5)
    for number in range(count):
        (stage.work / f"{number}.txt").write_text(LINES)
    yield _measure(stage, count, "read_file", {"path": "{n}.txt"})
    yield _measure(stage, count, "terminal", {"command": COMMAND}, *_as_started(stage, "bash", "-c", COMMAND))


def _measure(stage: Stage, count: int, tool: str, args: dict[str, str], *command: str) -> Row:
    turn, nothing = (f"{steps} {tool} {msgspec.json.encode(args).decode()}" for steps in (count, 0))
    bodies, commits = _watch(stage, turn, count)
    folder = stage.fresh("steps")
    recorded = folder / "bodies.jsonl"
    recorded.write_bytes(b"\n".join(map(msgspec.json.encode, bodies)))
    arguments = (f"{stage.base_url}/chat/completions", recorded, folder / "bare.db")

    def step() -> tuple[float, float]:
        return _own_cpu(stage, turn), _own_cpu(stage, nothing)

    def bare() -> tuple[float, float]:
        alone = float(stage.program("bare_steps", *arguments).out)
        return alone, float(stage.program("bare_steps", *arguments, *command).out) if command else alone

    ours, bares = stage.alternate(20, step, bare)
    floor = least(alone for alone, _ in bares)
    starting = least(started for _, started in bares) - floor if command else 0.0
    value = (least(full for full, _ in ours) - least(empty for _, empty in ours)) / count - starting
    left_out = f"; {starting:.1f} ms for starting the process left out" if command else ""
    return Row(
        what=f"own CPU of one step of {tool}" + (f" ({COMMAND})" if command else ""),
        value=value,
        unit="ms",
        floor=floor,
        beside=f"bare: same requests, 2 commits (Hermes: {commits:.1f}){left_out}",
        bar=Limit(value=5),
        aim=Limit(value=3),
    )


def _as_started(stage: Stage, *command: str) -> tuple[str, ...]:
    """A command as Hermes starts it, which is in its sandbox."""
    work = os.path.realpath(stage.work)
    return sandbox(stage, work).wrap(command, stage.env, work, NO_GRANTS)[0]


def _own_cpu(stage: Stage, prompt: str) -> float:
    target: Path = stage.folder / "own-cpu"
    stage.program("own", target, "-z", prompt)
    return float(target.read_text())


def _watch(stage: Stage, turn: str, count: int) -> tuple[list[dict[str, Any]], float]:
    """The requests of such a turn and the commits of one of its steps, once it is seen that every call was run."""
    _, empty = bare_turn(stage)
    told = ""

    def run_turn() -> None:
        nonlocal told
        told = stage.hermes("-z", turn, "--json").out

    seen = len(stage.requests())
    full = wal.commits_of(run_turn, stage.home / "state.db")
    done = [
        event.body.item for event in map(decode_event, told.encode().splitlines()) if isinstance(event.body, ItemDone)
    ]
    calls = [item for item in done if isinstance(item, ToolCall)]
    if [call.status for call in calls] != ["done"] * count:
        raise Failed(f"not every call of {turn!r} was run: {calls[-1] if calls else 'there was none'}")
    return stage.bodies(seen), (full - empty) / count
