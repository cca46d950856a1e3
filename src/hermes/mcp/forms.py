"""A server's form as plain text: what a person is asked, and what their answer fills in."""

from collections.abc import Mapping
from typing import Any, Literal

import msgspec

from hermes.mcp.check import Check
from hermes.mcp.words import bounded, visible
from hermes.protocol.events import Answered

TRUE, FALSE = ("true", "yes", "y", "on", "1"), ("false", "no", "n", "off", "0")


def asked(text: str, schema: Mapping[str, Any], wrong: str = "") -> str:
    """The question with its fields, how to answer, and what was wrong with the last answer."""
    fields = [_field(name, one, name in schema.get("required", ())) for name, one in _fields(schema).items()]
    how = "Answer with the value" if len(fields) == 1 else "Answer with one line `name: value` for each field"
    lines = [f"That does not fit: {wrong}"] if wrong else []
    return "\n".join(
        [*lines, text, *fields, f"{how}, or as JSON; `decline` says no." if fields else "`yes`, or `decline`."]
    )


def unwilling(answer: Answered) -> Literal["", "decline", "cancel"]:
    """How a person said that they will not answer, if they did."""
    for said in (answer.choice, answer.text):
        match said.strip().lower():
            case "decline" | "deny":
                return "decline"
            case "cancel":
                return "cancel"
    return ""


async def filled(text: str, schema: dict[str, Any]) -> tuple[dict[str, Any], str]:
    """What a text fills in, with the defaults of fields that it leaves out, and what is wrong with it, if anything is."""
    fields = _fields(schema)
    given = _read(text.strip(), fields)
    defaults = {name: one["default"] for name, one in fields.items() if one.get("default") is not None}
    return await Check(msgspec.json.encode(schema)).fit(defaults | given)


def _read(text: str, fields: dict[str, dict[str, Any]]) -> dict[str, Any]:
    if text.startswith("{"):
        try:
            return dict(msgspec.json.decode(text, type=dict[str, Any]))
        except msgspec.DecodeError:
            return {}
    lines = [line.partition(":") for line in text.splitlines()]
    named = {name.strip(): value.strip() for name, colon, value in lines if colon and name.strip() in fields}
    if not named and len(fields) == 1 and text:
        named = {next(iter(fields)): text}
    return {name: _value(value, fields[name]) for name, value in named.items()}


def _value(text: str, field: Mapping[str, Any]) -> Any:
    """A typed text as the field wants it; what cannot be read so stays text, and does not fit."""
    match field.get("type"):
        case "boolean" if text.lower() in (*TRUE, *FALSE):
            return text.lower() in TRUE
        case "integer" | "number":
            try:
                return msgspec.json.decode(text, type=int | float)
            except msgspec.DecodeError:
                return text
        case "array":
            return [one.strip() for one in text.split(",") if one.strip()]
        case _:
            return text


def _fields(schema: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    found = schema.get("properties")
    return {name: one for name, one in found.items() if isinstance(one, dict)} if isinstance(found, dict) else {}


def _field(name: str, field: Mapping[str, Any], needed: bool) -> str:
    """One line: name, what it takes, and what it is for."""
    takes = _choices(field) or [str(field.get("type", "text")).replace("string", "text")]
    takes += [] if needed else ["optional"]
    if field.get("default") is not None:
        takes.append(f"else {field['default']}")
    about = field.get("description") or field.get("title") or ""
    return bounded(visible(f"- {name} ({', '.join(takes)})" + (f": {about}" if about else "")).replace("\n", " "), 300)


def _choices(field: Mapping[str, Any]) -> list[str]:
    """The values that a field allows, with their titles: as `enum`, or as constants in a list of choices."""
    if isinstance(items := field.get("items"), dict):
        return _choices(items)
    if isinstance(values := field.get("enum"), list):
        return [" | ".join(map(str, values))]
    found = [
        one for key in ("oneOf", "anyOf") for one in field.get(key) or () if isinstance(one, dict) and "const" in one
    ]
    return (
        [" | ".join(f"{one['const']} = {one['title']}" if "title" in one else str(one["const"]) for one in found)]
        if found
        else []
    )
