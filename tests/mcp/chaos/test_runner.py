"""The runner: what it says of a case that goes well, one that goes wrong, and one that never ends."""

import os
from collections.abc import Sequence

from msgspec.structs import replace

from hermes.mcp.chaos.cases import Case, all_cases
from hermes.mcp.chaos.runner import Row, run_chaos
from hermes.mcp.chaos.trial import ECHO, Nobody, Trial, until

ENVIRON = {"PATH": os.defpath}


async def rows_of(cases: Sequence[Case]) -> list[Row]:
    return [row async for row in run_chaos(cases, ENVIRON)]


def case_of(fault: str, operation: str) -> Case:
    (case,) = [case for case in all_cases() if (case.fault, case.operation) == (fault, operation)]
    return case


async def test_a_row_holds_what_was_expected_seen_and_how_long_it_took():
    (row,) = await rows_of([case_of("session dropped: 404", "tools/call, an effect")])
    assert row.recovery_ms is not None and row.recovery_ms > 0
    assert replace(row, recovery_ms=None) == Row(
        fault="session dropped: 404",
        operation="tools/call, an effect",
        expected="answered, ran 1x, 1 reconnect",
        seen="answered, ran 1x, 1 reconnect",
        recovery_ms=None,
        ok=True,
    )


async def test_a_case_that_goes_otherwise_is_not_ok():
    case = replace(case_of("500", "resources/read"), expected="failed")
    (row,) = await rows_of([case])
    assert (row.seen, row.ok) == ("answered", False)


async def test_a_case_that_never_ends_is_a_row_too():
    async def play(trial: Trial) -> tuple[str, float]:
        await until(lambda: False, 0.02)
        return "so it is", 0.0

    (row,) = await rows_of([replace(case_of("500", "resources/read"), play=play)])
    assert (row.seen, row.recovery_ms, row.ok) == ("no answer ever again", None, False)


async def test_a_client_that_is_gone_is_a_row_too():
    async def play(trial: Trial) -> tuple[str, float]:
        await trial.server.close()
        return str(await trial.server.request(ECHO, Nobody())), 0.0

    (row,) = await rows_of([replace(case_of("500", "resources/read"), play=play)])
    assert (row.seen, row.ok) == ("MCP call failed: the server chaos is not running", False)


def test_the_cases_are_chosen_by_a_text_in_fault_or_operation():
    assert {case.operation for case in all_cases("PROMPTS/GET")} == {"prompts/get"}
    assert {case.fault for case in all_cases("wrapper")} == {"stdio: wrapper dies"}
    assert all_cases("no such thing") == []


def test_no_case_stands_in_the_table_twice():
    names = [(case.fault, case.operation) for case in all_cases()]
    assert len(names) == len(set(names))


def test_every_operation_meets_every_way_to_lose_a_session():
    lost = {case.operation for case in all_cases("session dropped: error text")}
    assert lost == {
        "tools/call, an effect",
        "tools/call, read-only",
        "resources/list",
        "resources/read",
        "prompts/list",
        "prompts/get",
        "64 at once, an effect",
    }
