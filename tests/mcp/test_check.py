"""Arguments against the schemas of servers."""

import json
import time
from typing import Any

import pytest

from hermes.mcp.check import Check

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}, "mail": {"type": ["string", "null"]}},
    "required": ["name"],
    "additionalProperties": False,
}


async def wrong(schema: Any, args: dict[str, Any]) -> str:
    return (await Check(json.dumps(schema).encode()).fit(args))[1]


async def test_arguments_that_do_not_fit_are_told_apart_in_one_line() -> None:
    assert await wrong(PERSON, {"name": "Ada", "age": 36}) == ""
    assert await wrong(PERSON, {"name": "Ada", "age": "old"}) == "age: 'old' is not of type 'integer'"
    assert await wrong(PERSON, {}) == "'name' is a required property"
    assert "'size' was unexpected" in await wrong(PERSON, {"name": "Ada", "size": 1})
    assert len(await wrong(PERSON, {"name": ["x\n"] * 5000})) <= 240


async def test_a_null_for_what_is_left_out_is_left_out_and_one_that_fits_stays() -> None:
    check = Check(json.dumps(PERSON).encode())
    assert await check.fit({"name": "Ada", "age": None}) == ({"name": "Ada"}, "")
    assert await check.fit({"name": "Ada", "mail": None}) == ({"name": "Ada", "mail": None}, "")
    assert (await check.fit({"name": None}))[1] == "name: None is not of type 'string'"


@pytest.mark.parametrize(
    "broken",
    [
        {"type": "no such type"},
        {"type": "object", "properties": 5},
        {"$ref": "#"},
        {"$ref": "#/$defs/Nobody"},
        {"$ref": "http://127.0.0.1:1/schema.json"},
        True,
        None,
    ],
)
async def test_a_schema_that_is_no_schema_checks_nothing(broken: Any) -> None:
    assert await wrong(broken, {"anything": 1}) == ""


async def test_a_servers_regular_expression_is_never_run() -> None:
    slow = {
        "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}},
        "patternProperties": {"^(b+)+$": {"type": "string"}},
        "additionalProperties": False,
    }
    began = time.monotonic()
    assert await wrong(slow, {"a": "a" * 40 + "!", "b" * 40 + "!": "x"}) == ""
    assert time.monotonic() - began < 2
