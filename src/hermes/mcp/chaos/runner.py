"""Drive the real client through every case, and say of each whether it went as promised."""

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence

from msgspec import Struct

from hermes.mcp.chaos.cases import Case
from hermes.mcp.chaos.trial import PATIENCE, open_trial
from hermes.mcp.contract import ServerFailed

LIMIT = 4 * PATIENCE
LANES = 6
"""Cases at a time, of those that wait most of the time."""


class Row(Struct, frozen=True, kw_only=True):
    """One line of the table; `recovery_ms` is the time until there was a good answer again."""

    fault: str
    operation: str
    expected: str
    seen: str
    recovery_ms: float | None
    ok: bool


async def run_chaos(cases: Sequence[Case], environ: Mapping[str, str]) -> AsyncGenerator[Row]:
    """A row for each case, as soon as it is known. Children get of the environment what any MCP server gets."""
    for case in cases:
        if case.alone:
            yield await _run(case, environ)
    lanes = asyncio.Semaphore(LANES)

    async def run(case: Case) -> Row:
        async with lanes:
            return await _run(case, environ)

    tasks = [asyncio.create_task(run(case)) for case in cases if not case.alone]
    try:
        for task in tasks:
            yield await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _run(case: Case, environ: Mapping[str, str]) -> Row:
    seconds = None
    try:
        async with asyncio.timeout(LIMIT), open_trial(case.way, case.era, environ) as trial:
            seen, seconds = await case.play(trial)
    except TimeoutError:
        seen = "no answer ever again"
    except ServerFailed as failed:
        seen = str(failed)
    return Row(
        fault=case.fault,
        operation=case.operation,
        expected=case.expected,
        seen=seen,
        recovery_ms=None if seconds is None else round(seconds * 1000, 1),
        ok=seen == case.expected,
    )
