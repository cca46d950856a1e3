"""The fields of a form that a session asks to have filled in, from its JSON schema."""

from typing import Any

import msgspec
from msgspec import Raw, Struct


class Field(Struct, frozen=True):
    """One value: what it is called, what a person reads, what it takes and has from the start."""

    id: str
    name: str
    label: str
    takes: str
    default: str = ""


def fields_of(schema: Raw) -> list[Field]:
    read = msgspec.json.decode(schema, type=dict[str, Any])
    found = read.get("properties")
    properties = found if isinstance(found, dict) else {}
    needed = read.get("required") or ()
    return [
        _field(number, name, one, name in needed)
        for number, (name, one) in enumerate(properties.items())
        if isinstance(one, dict)
    ]


def _field(number: int, name: str, schema: dict[str, Any], needed: bool) -> Field:
    about = schema.get("description") or schema.get("title") or ""
    values = schema.get("enum")
    takes = " | ".join(map(str, values)) if isinstance(values, list) else str(schema.get("type", "string"))
    takes = takes.replace("string", "text").replace("boolean", "yes | no")
    default = schema.get("default")
    return Field(
        id=f"field-{number}",
        name=name,
        label=f"{name}: {about}" if about else name,
        takes=takes if needed else f"{takes} (optional)",
        default="" if default is None else str(default),
    )
