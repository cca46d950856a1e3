"""Print what Hermes costs as one table, each row beside its floor from the same run: python -m bench

A row is made by a function that takes the stage and yields rows; to add one, write it in a module of its own and name
it in ROWS. What to expect of them stands in docs/bench.md. The corpora of safety have a table of their own.
"""

import argparse
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import msgspec

from bench import (
    corpora,
    decoder,
    inserts,
    memory,
    prompt,
    recall,
    recovery,
    resume,
    sandbox,
    screen,
    servers,
    startup,
    steps,
    table,
    turn,
    writers,
)
from bench.cost import Failed
from bench.stage import Stage
from bench.table import Row

ROWS: dict[str, Callable[[Stage], Iterator[Row]]] = {
    "startup": startup.measure,
    "turn": turn.measure,
    "steps": steps.measure,
    "sandbox": sandbox.measure,
    "memory": memory.measure,
    "screen": screen.measure,
    "prompt": prompt.measure,
    "inserts": inserts.measure,
    "resume": resume.measure,
    "writers": writers.measure,
    "decoder": decoder.measure,
    "servers": servers.measure,
    "recovery": recovery.measure,
    "recall": recall.measure,
}

NAMES = (*ROWS, "corpora")


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description="What Hermes costs, beside its floor.")
    parser.add_argument("--quick", action="store_true", help="few and small repetitions: shows that it works, no more")
    parser.add_argument("--only", metavar="NAME", choices=NAMES, action="append", help=f"one of {', '.join(NAMES)}")
    parser.add_argument("--json", metavar="FILE", type=Path, help="keep the rows in this file too")
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a row is beyond its bar")
    args = parser.parse_args(argv)
    try:
        rows = measure([name for name in ROWS if name in (args.only or ROWS)], quick=args.quick)
    except Failed as failure:
        print(f"bench: {failure}", file=sys.stderr)
        return 2
    if rows:
        print(table.render(table.HEAD, [row.cells() for row in rows]))
    judged = list(corpora.measure(quick=args.quick)) if "corpora" in (args.only or NAMES) else []
    if judged:
        print("\n" + table.render(corpora.HEAD, [each.cells() for each in judged]))
    if args.json:
        args.json.write_bytes(msgspec.json.format(msgspec.json.encode([record(row) for row in rows])) + b"\n")
    if args.quick:
        print("\nquick: too few repetitions to judge anything by")
    missed = [row.what for row in rows if row.missed] + [each.name for each in judged if each.missed]
    if missed:
        print(f"\nbeyond their bar: {'; '.join(missed)}")
    return 1 if missed and args.strict else 0


def measure(names: Sequence[str], *, quick: bool) -> list[Row]:
    rows: list[Row] = []
    with Stage(quick=quick) as stage:
        for number, name in enumerate(names, 1):
            stage.say(f"{number} of {len(names)}: {name}")
            rows += ROWS[name](stage)
    return rows


def record(row: Row) -> dict[str, object]:
    """A row as data, with what follows from it."""
    return {**msgspec.structs.asdict(row), "ratio": row.ratio, "missed": row.missed}


if __name__ == "__main__":
    sys.exit(main())
