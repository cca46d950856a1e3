"""Prove on this machine that the MCP client keeps its promises: every fault against every operation, as a table."""

import argparse
import sys
from contextlib import aclosing

import msgspec

from hermes.cli.table import Column, print_table
from hermes.config import Settings
from hermes.mcp.chaos.cases import Case, all_cases
from hermes.mcp.chaos.runner import Row, run_chaos
from hermes.protocol.errors import UserError

COLUMNS = (
    Column("fault", shrinks=True),
    Column("operation", shrinks=True),
    Column("expected", shrinks=True),
    Column("seen", shrinks=True),
    Column("ms", right=True),
    Column("ok"),
)


def add_parser(actions: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = actions.add_parser("chaos", help="let a local server fail in every way, and see that calls survive it")
    parser.add_argument("--only", metavar="TEXT", default="", help="the cases whose fault or operation holds the text")
    parser.add_argument("--json", action="store_true", default=argparse.SUPPRESS, help="one line of JSON a row")
    parser.set_defaults(do=run)


async def run(settings: Settings, args: argparse.Namespace) -> int:
    cases = all_cases(args.only)
    if not cases:
        raise UserError(f"no case holds {args.only!r}", "hermes mcp chaos shows all of them")
    return report(await _run(settings, cases), as_json=vars(args).get("json", False))


def report(rows: list[Row], *, as_json: bool) -> int:
    """Print the rows; 1 if one of them is not as expected."""
    if as_json:
        for row in rows:
            print(msgspec.json.encode(row).decode())
    else:
        print_table(COLUMNS, [_cells(row) for row in rows], sys.stdout)
        print(_summary(rows), file=sys.stderr)
    return 0 if all(row.ok for row in rows) else 1


async def _run(settings: Settings, cases: list[Case]) -> list[Row]:
    rows: list[Row] = []
    shows = sys.stderr.isatty()
    async with aclosing(run_chaos(cases, settings.shell)) as coming:
        async for row in coming:
            rows.append(row)
            if shows:
                print(f"\r\x1b[K{len(rows)}/{len(cases)} {row.fault}", end="", file=sys.stderr, flush=True)
    if shows:
        print("\r\x1b[K", end="", file=sys.stderr, flush=True)
    return rows


def _cells(row: Row) -> tuple[str, ...]:
    time = "" if row.recovery_ms is None else f"{row.recovery_ms:.0f}"
    return row.fault, row.operation, row.expected, row.seen, time, "yes" if row.ok else "NO"


def _summary(rows: list[Row]) -> str:
    wrong = sum(not row.ok for row in rows)
    return f"{wrong} of {len(rows)} cases did not go as promised" if wrong else f"all {len(rows)} cases as promised"
