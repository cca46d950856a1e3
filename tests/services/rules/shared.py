"""Rules that more than one dialect has: names, schemas, arguments, unique ids."""

from collections.abc import Iterable
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct


class Refused(Exception):
    """The request is one that the vendor answers with 400."""


Filled = Annotated[str, Meta(min_length=1)]
ToolName = Annotated[str, Meta(pattern=r"^[a-zA-Z0-9_-]{1,64}$")]


class ObjectSchema(Struct):
    """The schema of a tool's arguments; OpenAI refuses an object schema without properties."""

    type: Literal["object"]
    properties: dict[str, Any]


def check_unique(what: str, names: Iterable[str]) -> None:
    """Refuses a name that comes twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise Refused(f"{what} must be unique: {name} comes twice.")
        seen.add(name)


def check_arguments(where: str, arguments: str) -> None:
    """Refuses arguments of an earlier call that are not a JSON object."""
    # OpenAI itself takes any string; servers that fill a chat template with the parsed value do not.
    try:
        msgspec.json.decode(arguments, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise Refused(f"{where}: arguments are not a JSON object: {error}") from error
