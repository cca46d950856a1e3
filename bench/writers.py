"""Many processes that write to one database at once: how long each waits, and whether anything is lost."""

import subprocess
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import apsw
import msgspec
from msgspec import Struct

from bench.cost import Failed
from bench.stage import PROGRAMS, PYTHON, Stage
from bench.table import Limit, Row


class Round(Struct, frozen=True):
    """Milliseconds until each write was acknowledged, and how many rows there are in the end."""

    took: list[float]
    stored: int


def measure(stage: Stage) -> Iterator[Row]:
    writers, each = stage.scale((32, 200), (4, 20))
    ours, bare = stage.alternate(
        2,
        lambda: _write(stage, "writer", "events", writers, each),
        lambda: _write(stage, "bare_writer", "rows", writers, each),
    )
    took, floor = (sorted(chain.from_iterable(one.took for one in rounds)) for rounds in (ours, bare))
    for name, share in (("p50", 0.5), ("p99", 0.99), ("max", 1.0)):
        yield Row(
            what=f"{writers} writers x {each}, acknowledged after, {name}",
            value=_at(took, share),
            unit="ms",
            floor=_at(floor, share),
            beside="bare writers behind one lock",
            bar=Limit(value=50) if name == "p99" else Limit(),
        )
    yield Row(
        what="of these writes, lost",
        value=len(took) - sum(one.stored for one in ours),
        unit="",
        beside=f"of {len(took):,}",
        bar=Limit(value=0),
    )


def _write(stage: Stage, program: str, table: str, writers: int, each: int) -> Round:
    """Start all writers, let them go at the same moment, and gather how long each write took."""
    database = stage.fresh(program) / "state.db"
    command = [str(PYTHON), "-E", "-s", str(PROGRAMS / f"{program}.py"), str(database)]
    children = [
        subprocess.Popen(
            [*command, f"w{number}", str(each)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=stage.env,
            cwd=stage.work,
        )
        for number in range(writers)
    ]
    ready = [child.stdout.readline() for child in children if child.stdout]
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    told = [child.stdout.readline() for child in children if child.stdout]
    for child in children:
        child.communicate()
    if any(child.returncode for child in children) or set(ready) != {"ready\n"}:
        raise Failed(f"a {program} did not come to its end")
    took = [number for line in told for number in msgspec.json.decode(line, type=list[float])]
    return Round(took, _stored(database, table))


def _at(ordered: list[float], share: float) -> float:
    return ordered[min(len(ordered) - 1, int(len(ordered) * share))]


def _stored(database: Path, table: str) -> int:
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    [(count,)] = connection.execute(f"SELECT count(*) FROM {table}").fetchall()
    connection.close()
    return int(str(count))
