"""A server's schema of a tool's arguments, made safe for every model to read."""

from functools import lru_cache
from typing import Any

import msgspec
from msgspec import Raw

from hermes.mcp.words import bounded, visible

LARGEST = 16_384
"""Bytes of one schema in the prompt; a larger one loses its descriptions, then what lies below its first level."""
DEEPEST, MOST = 12, 20_000
"""Levels of a schema and parts in all: a few references can stand for millions."""
NOTED = 600
EMPTY: dict[str, Any] = {"type": "object", "properties": {}}
CHOICES = ("anyOf", "oneOf", "allOf")
NAMED = ("properties", "patternProperties", "dependentSchemas")
SUBSCHEMAS = frozenset(
    {*CHOICES, *NAMED, "prefixItems", "items", "additionalProperties", "not", "if", "then", "else", "contains"}
    | {"propertyNames", "required", "description"}
)
DROPPED = frozenset({"$schema", "$id", "$anchor", "$comment", "$defs", "definitions", "title", "examples", "default"})


@lru_cache(maxsize=1024)
def for_models(schema: bytes) -> Raw:
    """The schema as models are told it: an object on top, references inlined, no nulls, bounded in size."""
    whole = _decoded(schema)
    shaped = _object(_Shape(whole).part(whole))
    for smaller in (lambda node: node, _undescribed, _names_only):
        encoded = msgspec.json.encode(smaller(shaped))
        if len(encoded) <= LARGEST:
            return Raw(encoded)
    return Raw(msgspec.json.encode(EMPTY))


def _decoded(schema: bytes) -> dict[str, Any]:
    try:
        found = msgspec.json.decode(schema)
    except msgspec.DecodeError:
        return {}
    return found if isinstance(found, dict) else {}


def _object(top: dict[str, Any]) -> dict[str, Any]:
    """The top of a schema. Most APIs allow no choice up there, so the properties of all choices are offered together."""
    properties: dict[str, Any] = {}
    for part in (*(one for key in CHOICES for one in top.get(key, ())), top):
        properties |= part.get("properties") or {}
    kept = {key: value for key, value in top.items() if key in ("description", "additionalProperties")}
    required = [name for name in top.get("required") or () if name in properties]
    return EMPTY | {"properties": properties} | kept | ({"required": required} if required else {})


class _Shape:
    """One schema on its way to the model. References that multiply are bounded by the number of parts in the end."""

    def __init__(self, whole: dict[str, Any]) -> None:
        self._whole = whole
        self._left = MOST

    def part(self, node: Any, path: tuple[str, ...] = ()) -> dict[str, Any]:
        """One part; `path` holds the references that led here, so that one which leads to itself ends."""
        self._left -= 1
        if not isinstance(node, dict) or len(path) > DEEPEST or self._left < 0:
            return {}
        reference = node.get("$ref")
        if isinstance(reference, str):
            meant = {} if reference in path else self._meant(reference)
            beside = {key: value for key, value in node.items() if key != "$ref"}
            return self.part(meant | beside, (*path, reference))
        found = {key: self._value(key, value, (*path, "")) for key, value in node.items() if key not in DROPPED}
        return _one_type({key: value for key, value in found.items() if value is not None})

    def _value(self, key: str, value: Any, path: tuple[str, ...]) -> Any:
        """What stands at one key of a part; None if it goes."""
        match key, value:
            case (("properties" | "patternProperties" | "dependentSchemas"), dict()):
                return {visible(name): self.part(one, path) for name, one in value.items()}
            case (("anyOf" | "oneOf" | "allOf" | "prefixItems"), list()):
                return [self.part(one, path) for one in value]
            case (
                ("additionalProperties" | "items" | "contains" | "propertyNames" | "not" | "if" | "then" | "else"),
                dict(),
            ):
                return self.part(value, path)
            case "additionalProperties", bool():
                return value
            case "required", list():
                return [name for name in value if isinstance(name, str)]
            case "enum", list():
                return [one for one in value if one is not None]
            case "description", str():
                return bounded(visible(value), NOTED)
            case _:
                return None if key in SUBSCHEMAS else value

    def _meant(self, reference: str) -> dict[str, Any]:
        """What a reference within the schema points to; one that leads out of it means nothing here."""
        if not reference.startswith("#"):
            return {}
        found: Any = self._whole
        for step in filter(None, reference[1:].split("/")):
            found = found.get(step.replace("~1", "/").replace("~0", "~")) if isinstance(found, dict) else None
        return found if isinstance(found, dict) else {}


def _one_type(node: dict[str, Any]) -> dict[str, Any]:
    """A list of types as a choice, for not every API reads such lists; null goes, since what is null can be left out."""
    if isinstance(kinds := node.get("type"), list):
        kinds = [kind for kind in kinds if isinstance(kind, str) and kind != "null"]
        node = {key: value for key, value in node.items() if key != "type"}
        if len(kinds) == 1:
            node["type"] = kinds[0]
        elif kinds and "anyOf" not in node:
            node["anyOf"] = [{"type": kind} for kind in kinds]
    for key in ("anyOf", "oneOf"):
        if choices := [one for one in node.get(key, ()) if one != {"type": "null"}]:
            rest = {name: value for name, value in node.items() if name != key}
            node = choices[0] | rest if len(choices) == 1 else rest | {key: choices}
    if node.get("type") == "array" and "items" not in node:
        node = node | {"items": {}}
    return node


def _undescribed(node: Any, within: str = "") -> Any:
    match node:
        case dict():
            named = within in NAMED
            return {key: _undescribed(one, key) for key, one in node.items() if named or key != "description"}
        case list():
            return [_undescribed(one) for one in node]
        case _:
            return node


def _names_only(node: dict[str, Any]) -> dict[str, Any]:
    properties = {name: {key: one[key] for key in ("type",) if key in one} for name, one in node["properties"].items()}
    return {key: value for key, value in node.items() if key in ("type", "required")} | {"properties": properties}
