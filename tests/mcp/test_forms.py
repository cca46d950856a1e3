"""Forms of servers in plain text."""

from typing import Any

import pytest

from hermes.mcp.forms import asked, filled, unwilling
from hermes.protocol.events import Answered

TRIP = {
    "type": "object",
    "properties": {
        "city": {"type": "string", "description": "Where to?"},
        "days": {"type": "integer", "default": 3},
        "class": {"type": "string", "enum": ["first", "second"]},
        "meals": {"type": "boolean"},
        "tags": {"type": "array", "items": {"anyOf": [{"const": "sea", "title": "Sea"}, {"const": "hill"}]}},
    },
    "required": ["city"],
}


def one(**field: Any) -> dict[str, Any]:
    return {"type": "object", "properties": {"it": field}, "required": ["it"]}


def test_a_form_is_asked_with_its_fields_and_how_to_answer() -> None:
    assert asked("travel asks: Which trip?", TRIP).splitlines() == [
        "travel asks: Which trip?",
        "- city (text): Where to?",
        "- days (integer, optional, else 3)",
        "- class (first | second, optional)",
        "- meals (boolean, optional)",
        "- tags (sea = Sea | hill, optional)",
        "Answer with one line `name: value` for each field, or as JSON; `decline` says no.",
    ]


def test_a_form_without_fields_only_wants_a_yes() -> None:
    assert asked("Go on?", {"type": "object", "properties": {}}) == "Go on?\n`yes`, or `decline`."


def test_what_was_wrong_is_said_first_when_it_is_asked_again() -> None:
    assert asked("Age?", one(type="integer"), "it: 'old' is not of type 'integer'").splitlines() == [
        "That does not fit: it: 'old' is not of type 'integer'",
        "Age?",
        "- it (integer)",
        "Answer with the value, or as JSON; `decline` says no.",
    ]


async def test_lines_and_json_fill_in_the_same_and_defaults_stand_for_what_is_left_out() -> None:
    full = {"days": 3, "city": "Rome", "class": "first", "meals": True, "tags": ["sea", "hill"]}
    lines = "city: Rome\nclass: first\nmeals: yes\ntags: sea, hill"
    assert await filled(lines, TRIP) == (full, "")
    assert await filled('{"city": "Rome", "class": "first", "meals": true, "tags": ["sea", "hill"]}', TRIP) == (
        full,
        "",
    )


@pytest.mark.parametrize(
    ("field", "text", "value"),
    [
        ({"type": "string"}, "no", "no"),
        ({"type": "string"}, "at 10:30", "at 10:30"),
        ({"type": "boolean"}, "no", False),
        ({"type": "integer"}, "42", 42),
        ({"type": "number"}, "4.5", 4.5),
        ({"type": "string"}, "it: yes", "yes"),
    ],
)
async def test_the_only_field_takes_the_bare_answer(field: dict[str, Any], text: str, value: Any) -> None:
    assert await filled(text, one(**field)) == ({"it": value}, "")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "'city' is a required property"),
        ("Rome", "'city' is a required property"),
        ('{"city": ', "'city' is a required property"),
        ("city: Rome\ndays: many", "days: 'many' is not of type 'integer'"),
        ("city: Rome\nclass: third", "class: 'third' is not one of ['first', 'second']"),
    ],
)
async def test_what_does_not_fit_is_told(text: str, why: str) -> None:
    assert (await filled(text, TRIP))[1] == why


def test_a_no_is_told_apart_from_an_answer() -> None:
    assert unwilling(Answered("r", "answered", choice="decline")) == "decline"
    assert unwilling(Answered("r", "answered", choice="deny")) == "decline"
    assert unwilling(Answered("r", "answered", text=" Cancel ")) == "cancel"
    assert unwilling(Answered("r", "answered", text="no")) == ""
