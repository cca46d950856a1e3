"""The page on MCP names tests that exist and settings as they are."""

import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from hermes.config import McpServer
from hermes.mcp.chaos.cases import all_cases

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "mcp.md").read_text()
NAMED = sorted(set(re.findall(r"`([\w/]+\.py)::(test_\w+)`", PAGE)))


def section(title: str) -> str:
    return PAGE.partition(f"### {title}\n")[2].partition("\n#")[0]


def rows(text: str) -> list[list[str]]:
    """The cells of a table's rows, without its head."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines[2:]]


@pytest.mark.parametrize(("file", "test"), NAMED, ids=[test for _, test in NAMED])
def test_the_test_that_is_named_exists(file: str, test: str):
    path = ROOT / file if file.startswith("tests/") else ROOT / "tests" / "mcp" / file
    assert re.search(rf"^(async )?def {test}\(", path.read_text(), re.M)


@pytest.mark.parametrize(("title", "cases"), [("Session expiry", 16), ("Breaker and parking", 6)])
def test_each_case_is_there_with_its_tests(title: str, cases: int):
    table = rows(section(title))
    assert [row[0] for row in table] == [str(number) for number in range(1, cases + 1)]
    assert [row for row in table if "::test_" not in row[2]] == []


@pytest.mark.parametrize("title", ["The rest of the contract", "The fault table"])
def test_no_row_is_without_a_test(title: str):
    table = rows(section(title))
    assert table
    assert [row for row in table if "::test_" not in row[1]] == []


def settings(struct: type[msgspec.Struct], before: str = "") -> Iterator[tuple[str, str]]:
    """Every key with its default, as the page writes it."""
    for field in msgspec.structs.fields(struct):
        if isinstance(field.type, type) and issubclass(field.type, msgspec.Struct):
            yield from settings(field.type, f"{field.encode_name}.")
        else:
            value = field.default if field.default is not msgspec.NODEFAULT else ""
            shown = str(value).lower() if isinstance(value, bool) else str(value)
            yield before + field.encode_name, "" if value in ("", ()) and value is not False else shown


def test_every_setting_is_there_with_its_default():
    table = rows(PAGE.partition("\n## Settings\n")[2].partition("\n## ")[0])
    assert {row[0].strip("`"): row[1] for row in table} == dict(settings(McpServer))


def test_the_number_of_cases_is_true():
    assert f"through {len(all_cases())} cases" in PAGE
