"""Settings by dotted key: which there are, what a typed text means, and what of them may be shown."""

import re
from collections.abc import Iterator, Mapping
from difflib import get_close_matches
from typing import Any

import msgspec
from msgspec import Struct

from hermes.config import ModelSettings, Settings
from hermes.config_faults import unreadable
from hermes.protocol.errors import UserError
from hermes.safety.environment import scrubbed

VARIABLE = re.compile(r"[A-Z][A-Z0-9_]*")
"""Settings are written small; a name in capitals is a variable of the environment and belongs into .env."""
_secret = re.compile(r"(^|_)(key|token|secret|password)$", re.IGNORECASE)
FLOW = ("[", "{", '"', "'")
MISSING = object()


def effective(settings: Settings) -> dict[str, Any]:
    """Every setting as it stands for this run, defaults included, as plain data."""
    tree = msgspec.to_builtins(settings.file)
    if named := settings.environ.get("HERMES_MODEL"):
        tree["model"] = named
    return tree


def look_up(tree: Any, key: str) -> Any:
    """What stands at a dotted key, or MISSING."""
    for name in key.split("."):
        if not isinstance(tree, dict) or name not in tree:
            return MISSING
        tree = tree[name]
    return tree


def flat(tree: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, Any]]:
    """Dotted keys with their values; a list is one value, and so is an empty group."""
    for name, value in tree.items():
        if isinstance(value, dict) and value:
            yield from flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", value


def not_known(key: str, known: Struct) -> str:
    """Why Hermes does not know a key, with the nearest one that it does; '' if it knows it."""
    path: list[str] = []
    at: Any = known
    for name in key.split("."):
        if not isinstance(at, Struct):
            return ""
        if name not in at.__struct_fields__:
            near = get_close_matches(name, at.__struct_fields__, 1)
            what = f"there is no setting {'.'.join([*path, name])!r}"
            return f"{what}; did you mean {'.'.join([*path, *near])}?" if near else what
        at = ModelSettings() if name == "model" and at is known else getattr(at, name)
        path.append(name)
    return ""


def typed(text: str) -> Any:
    """true, false, null and numbers as JSON has them, [lists], {groups} and "quoted text" as YAML; all else is text."""
    if text.lstrip()[:1] in FLOW:
        return _flow(text)
    try:
        return msgspec.json.decode(text.strip().lower())
    except msgspec.DecodeError:
        return text


def _flow(text: str) -> Any:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    try:
        return YAML(typ="safe", pure=True).load(text)
    except YAMLError as error:
        _, why = unreadable(error)
        raise UserError(f"cannot read {text!r}: {why}", "write lists as [a, b], groups as {a: 1}") from None


def written(value: Any) -> str:
    """A value as it can be typed again."""
    if isinstance(value, str) and value and "\n" not in value and not _changes(value):
        return value
    return msgspec.json.encode(value).decode()


def _changes(text: str) -> bool:
    """Whether a text would be taken for something else."""
    try:
        return typed(text) != text
    except UserError:
        return True


def masked(name: str, value: Any) -> Any:
    """A value without what is secret in it, judged by the names it has."""
    match value:
        case dict():
            return {key: masked(str(key), one) for key, one in value.items()}
        case list():
            return [masked(name, one) for one in value]
        case str() if value and not value.startswith("${") and is_secret(name, value):
            return hidden(value)
        case _:
            return value


def is_secret(name: str, value: str) -> bool:
    last = name.rpartition(".")[2]
    variable = last if VARIABLE.fullmatch(last) else ""
    # What a child process may not see is secret too: that rule also knows URLs with a password in them.
    return bool(_secret.search(last)) or not scrubbed({variable: value})


def hidden(value: str) -> str:
    """A secret by its last four signs, if it is long enough that they tell nothing."""
    return f"…{value[-4:]}" if len(value) >= 16 else "…"
