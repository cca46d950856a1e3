"""Print how much Hermes learns, every arm beside the others, and keep the table in docs/learning.md: python -m bench.learning

A suite is an async function that yields lines; to add one, write it in a module of its own and name it in SUITES.
"""

import argparse
import asyncio
import sys
import time
from collections.abc import AsyncIterator, Callable, Sequence
from pathlib import Path

from bench.learning import compaction, facts, injections, recall, review, skills
from bench.learning.table import Line, render

SUITES: dict[str, Callable[[bool], AsyncIterator[Line]]] = {
    "facts": facts.measure,
    "recall": recall.measure,
    "injections": injections.measure,
    "skills": skills.measure,
    "review": review.measure,
    "compaction": compaction.measure,
}
PAGE = Path(__file__).parents[2] / "docs" / "learning.md"
BEGIN, END = "<!-- figures: make bench-learning -->", "<!-- end of figures -->"


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.learning", description="How much Hermes learns.")
    parser.add_argument("--quick", action="store_true", help="few tasks: shows that it works, no more")
    parser.add_argument("--only", metavar="NAME", choices=list(SUITES), action="append", help=", ".join(SUITES))
    parser.add_argument("--strict", action="store_true", help="exit with 1 if a goal is missed")
    parser.add_argument("--page", metavar="FILE", type=Path, default=PAGE, help="where the table is kept")
    args = parser.parse_args(argv)
    names = [name for name in SUITES if name in (args.only or SUITES)]
    lines = asyncio.run(measure(names, quick=args.quick))
    drawn = render(lines)
    print(drawn)
    if args.quick or args.only:
        print("\nnot kept: only a whole run is")
    else:
        keep(args.page, drawn)
    missed = [f"{line.suite} ({line.arm})" for line in lines if line.ok is False]
    if missed:
        print(f"\ngoals missed: {'; '.join(missed)}")
    return 1 if missed and args.strict else 0


async def measure(names: Sequence[str], *, quick: bool) -> list[Line]:
    lines: list[Line] = []
    for name in names:
        began = time.monotonic()
        lines += [line async for line in SUITES[name](quick)]
        print(f"bench: {name} took {time.monotonic() - began:.0f} s", file=sys.stderr, flush=True)
    return lines


def keep(page: Path, drawn: str) -> None:
    """Put the table between its marks."""
    before, _, rest = page.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    page.write_text(f"{before}{BEGIN}\n{drawn}\n{END}{after}")


if __name__ == "__main__":
    sys.exit(main())
