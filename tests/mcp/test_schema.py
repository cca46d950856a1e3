"""Schemas of servers, as models read them."""

import json
import time
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.mcp.schema import LARGEST, for_models

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(
                [
                    "type",
                    "properties",
                    "required",
                    "anyOf",
                    "allOf",
                    "items",
                    "$ref",
                    "$defs",
                    "description",
                    "enum",
                    "x",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=25,
)


def read(schema: Any) -> Any:
    return msgspec.json.decode(for_models(json.dumps(schema).encode()))


def test_an_ordinary_schema_stays_as_it_is() -> None:
    schema = {
        "type": "object",
        "properties": {
            "title": {"type": "string", "description": "What it is called."},
            "size": {"type": "integer", "minimum": 1},
            "tags": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}},
        },
        "additionalProperties": False,
        "required": ["title"],
    }
    assert read(schema) == schema


@pytest.mark.parametrize("odd", [None, True, [], "text", {}, {"type": None}, {"type": "object", "properties": None}])
def test_whatever_a_server_sends_there_is_an_object_on_top(odd: Any) -> None:
    assert read(odd) == {"type": "object", "properties": {}}


def test_bytes_that_are_no_json_are_an_object_without_properties() -> None:
    assert bytes(for_models(b"{not json")) == b'{"type":"object","properties":{}}'


def test_references_are_inlined_and_those_that_lead_out_or_in_circles_end() -> None:
    schema = {
        "type": "object",
        "properties": {
            "point": {"$ref": "#/$defs/Point", "description": "Where."},
            "tree": {"$ref": "#/definitions/Tree"},
            "far": {"$ref": "http://127.0.0.1:1/schema.json"},
            "lost": {"$ref": "#/$defs/Nobody"},
        },
        "$defs": {"Point": {"type": "object", "title": "Point", "properties": {"x": {"type": "number"}}}},
        "definitions": {"Tree": {"type": "object", "properties": {"left": {"$ref": "#/definitions/Tree"}}}},
    }
    assert read(schema)["properties"] == {
        "point": {"type": "object", "properties": {"x": {"type": "number"}}, "description": "Where."},
        "tree": {"type": "object", "properties": {"left": {}}},
        "far": {},
        "lost": {},
    }


def test_nulls_lists_of_types_and_bare_arrays_become_what_every_api_reads() -> None:
    schema = {
        "type": "object",
        "properties": {
            "a": {"type": ["string", "null"], "default": None},
            "b": {"anyOf": [{"type": "integer"}, {"type": "null"}], "title": "B"},
            "c": {"type": ["string", "number"]},
            "d": {"type": "array"},
            "e": True,
            "f": {"type": ["string", "null"], "enum": ["a", None]},
            "title": {"type": "string"},
        },
    }
    assert read(schema)["properties"] == {
        "a": {"type": "string"},
        "b": {"type": "integer"},
        "c": {"anyOf": [{"type": "string"}, {"type": "number"}]},
        "d": {"type": "array", "items": {}},
        "e": {},
        "f": {"type": "string", "enum": ["a"]},
        "title": {"type": "string"},
    }


def test_a_choice_on_top_offers_the_properties_of_all_its_branches() -> None:
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string"}},
        "oneOf": [{"properties": {"b": {"type": "string"}}, "required": ["b"]}, {"properties": {"c": {}}}],
        "required": ["a"],
    }
    assert read(schema) == {
        "type": "object",
        "properties": {"b": {"type": "string"}, "c": {}, "a": {"type": "string"}},
        "required": ["a"],
    }


def test_a_large_schema_loses_descriptions_first_and_then_its_depths() -> None:
    talkative = {f"p{n}": {"type": "string", "description": "word " * 40} for n in range(100)}
    assert read({"type": "object", "properties": talkative})["properties"] == {
        f"p{n}": {"type": "string"} for n in range(100)
    }
    deep = {
        f"p{n}": {"type": "object", "properties": {f"q{m}": {"type": "string"} for m in range(50)}} for n in range(100)
    }
    assert read({"type": "object", "properties": deep, "required": ["p1"]}) == {
        "type": "object",
        "properties": {f"p{n}": {"type": "object"} for n in range(100)},
        "required": ["p1"],
    }


def test_references_that_multiply_end_soon() -> None:
    defs = {f"L{n}": {"properties": {k: {"$ref": f"#/$defs/L{n + 1}"} for k in "abcdefgh"}} for n in range(10)}
    began = time.monotonic()
    encoded = for_models(json.dumps({"$ref": "#/$defs/L0", "$defs": defs}).encode())
    assert time.monotonic() - began < 2
    assert len(bytes(encoded)) <= LARGEST


def test_invisible_signs_in_descriptions_of_arguments_are_taken_out() -> None:
    assert read({"properties": {"a": {"description": "one\u200b two"}}})["properties"] == {
        "a": {"description": "one two"}
    }


@given(JSON)
def test_any_json_at_all_becomes_an_object_of_bounded_size(schema: Any) -> None:
    shaped = read(schema)
    assert (shaped["type"], type(shaped["properties"])) == ("object", dict)
    assert len(json.dumps(shaped)) <= 2 * LARGEST
