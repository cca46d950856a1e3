"""`hermes mcp chaos`: the whole table on this machine, a part of it, as JSON, and a wish that nothing meets."""

import argparse
from pathlib import Path

import msgspec
import pytest

from hermes import config
from hermes.cli import mcp_chaos
from hermes.config import Settings
from hermes.mcp.chaos.cases import all_cases
from hermes.mcp.chaos.runner import Row
from hermes.protocol.errors import UserError


@pytest.fixture
def settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Settings:
    monkeypatch.setenv("HERMES_HOME", str(tmp_path))
    return config.load()


async def run(settings: Settings, *words: str) -> int:
    parser = argparse.ArgumentParser()
    mcp_chaos.add_parser(parser.add_subparsers())
    args = parser.parse_args(["chaos", *words])
    return await args.do(settings, args)


async def test_all_promises_are_kept_on_this_machine(settings: Settings, capsys: pytest.CaptureFixture[str]):
    code = await run(settings, "--json")
    rows = [msgspec.json.decode(line, type=Row) for line in capsys.readouterr().out.splitlines()]
    assert [row for row in rows if not row.ok] == []
    assert {(row.fault, row.operation) for row in rows} == {(case.fault, case.operation) for case in all_cases()}
    assert code == 0


async def test_a_part_of_the_table_is_shown_with_a_summary(settings: Settings, capsys: pytest.CaptureFixture[str]):
    assert await run(settings, "--only", "403") == 0
    shown = capsys.readouterr()
    cells = [line.split("\t") for line in shown.out.splitlines()]
    assert ["403 insufficient_scope", "prompts/get", "failed", "failed"] in [row[:4] for row in cells]
    assert {row[5] for row in cells} == {"yes"}
    assert shown.err == f"all {len(cells)} cases as promised\n"


@pytest.mark.parametrize("as_json", [False, True])
def test_a_broken_promise_is_shown_and_told_by_the_exit_code(as_json: bool, capsys: pytest.CaptureFixture[str]):
    kept = Row(fault="500", operation="prompts/get", expected="answered", seen="answered", recovery_ms=3.4, ok=True)
    broken = Row(fault="501", operation="prompts/get", expected="answered", seen="failed", recovery_ms=None, ok=False)
    assert mcp_chaos.report([kept, broken], as_json=as_json) == 1
    shown = capsys.readouterr()
    if as_json:
        assert [msgspec.json.decode(line, type=Row) for line in shown.out.splitlines()] == [kept, broken]
    else:
        assert shown.out.splitlines() == [
            "500\tprompts/get\tanswered\tanswered\t3\tyes",
            "501\tprompts/get\tanswered\tfailed\t\tNO",
        ]
        assert shown.err == "1 of 2 cases did not go as promised\n"


async def test_a_wish_that_no_case_meets_is_said(settings: Settings):
    with pytest.raises(UserError, match="no case holds 'flood of frogs'"):
        await run(settings, "--only", "flood of frogs")
