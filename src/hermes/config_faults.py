"""What is wrong with a file of settings, in a person's words: which setting, what it must be, what it is, and on which line."""

import re
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import msgspec
from msgspec import Struct

Where = tuple[str | int, ...]
"""The way to a value: names of settings, and places in lists."""

ODD = "not as `key: value` lines are written; check colons, quotes and indents"
# What the parser of YAML says, what a person is told, and whether the fault is where the parser began to look.
_UNREADABLE: tuple[tuple[str, str, bool], ...] = (
    (r"found character '\\t'", "a tab; indent with blanks", False),
    (r"found character '(.)' that cannot start", "text that begins with {} needs quotes", False),
    (
        r"mapping values are not allowed",
        "a colon that does not fit; check the indents, or put the text in quotes",
        False,
    ),
    (r"could not find expected ':'", "a line without `key: value`", True),
    (r"expected <block end>, but found '<scalar>'", "text behind a closing quote; put all of it in quotes", False),
    (r"expected <block end>", "its indent does not fit the lines above", False),
    (r"found unexpected end of stream", "a quote is opened and never closed", True),
    (r"expected ',' or '([\]}])'", "a bracket is opened and never closed with {}", True),
    (r'found duplicate key "([^"]*)"', "{} is there twice", False),
    (r"found undefined alias", "text that begins with * needs quotes", False),
    (r"could not determine a constructor for the tag", "text that begins with ! needs quotes", False),
    (r"found unknown escape character", "a \\ in double quotes; use single quotes", False),
    (r"found another document", "a second document begins; remove the ---", False),
    (r"sequence entries are not allowed", "a list cannot begin here; write [a, b], or begin on the next line", False),
    (r"expected the node content, but found '(.+)'", "{} where a value should be", False),
)
_WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "text"}


def unreadable(error: Exception) -> tuple[int, str]:
    """Why a text cannot be read as YAML, and on which line; 0 if nobody knows."""
    problem = getattr(error, "problem", None) or ""
    mark, began = getattr(error, "problem_mark", None), getattr(error, "context_mark", None)
    for pattern, words, at_the_beginning in _UNREADABLE:
        if found := re.search(pattern, problem):
            at = began if at_the_beginning and began else mark
            return (at.line + 1 if at else 0), words.format(*found.groups())
    if "special characters are not allowed" in str(error):
        return 0, "a control character, which no text may have"
    return (mark.line + 1 if mark else 0), ODD


def misfit(value: Any, kind: Any) -> tuple[Where, str]:
    """Where the first part of a value is that is not of its kind, and what it must be; ((), "") if all of it fits."""
    try:
        msgspec.convert(value, kind, strict=False)
    except msgspec.ValidationError:
        inside = _inside(value, kind)
    else:
        return (), ""
    for place, part, its_kind in inside:
        if part is msgspec.UNSET:
            return (), f"needs {place}"
        where, words = misfit(part, its_kind)
        if words:
            return (place, *where), words
    return (), f"must be {_wanted(kind)}, not {_given(value, kind)}"


def _inside(value: Any, kind: Any) -> list[tuple[str | int, Any, Any]]:
    """The parts of a value, each with its place and the kind that it must be of; UNSET stands for one that is missing."""
    for one in _kinds(kind):
        origin, args = get_origin(one) or one, get_args(one)
        match value:
            case dict() if origin is dict:
                return [(name, part, args[1]) for name, part in value.items()]
            case dict() if isinstance(origin, type) and issubclass(origin, Struct):
                fields = msgspec.structs.fields(one)
                known = [field for field in fields if field.required or field.name in value]
                return [(field.name, value.get(field.name, msgspec.UNSET), field.type) for field in known]
            case list() if origin is tuple:
                return [(place, part, args[0]) for place, part in enumerate(value)]
    return []


def _kinds(kind: Any) -> tuple[Any, ...]:
    """The kinds that a value may be of, without what bounds them."""
    every = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    plain = (get_args(one)[0] if get_origin(one) is Annotated else one for one in every)
    return tuple(one for one in plain if one is not NoneType)


def _wanted(kind: Any) -> str:
    words: list[str] = []
    for one in _kinds(kind):
        if get_origin(one) is Literal:
            words += [value for value in get_args(one) if value]
        else:
            words.append(_WORDS.get(one) or ("a list" if get_origin(one) is tuple else "a group of settings"))
    *others, last = words
    return (f"{', '.join(others)} or {last}" if others else last) + _bounds(kind)


def _bounds(kind: Any) -> str:
    """What a number must be besides."""
    least, most = (
        [value for one in _metas(kind) if (value := getattr(one, name)) is not None] for name in ("ge", "le")
    )
    match least, most:
        case [low], [high]:
            return f" from {low:,} to {high:,}"
        case [low], _:
            return f" of {low:,} or more"
        case _ if any(one.gt == 0 for one in _metas(kind)):
            return " above 0"
        case _:
            return ""


def _metas(kind: Any) -> list[msgspec.Meta]:
    return [one for one in getattr(kind, "__metadata__", ()) if isinstance(one, msgspec.Meta)]


def _given(value: Any, kind: Any) -> str:
    kinds = _kinds(kind)
    match value:
        case None:
            return "nothing"
        case str() if "${" in value:
            return f"{value!r}, for there is no such variable"
        case str():
            has_names = any(get_origin(one) is Literal for one in kinds)
            return repr(value) if has_names and len(value) < 40 else "text"
        case dict():
            return "a group of settings"
        case list():
            return "a list"
        case bool():
            words = str(value).lower()
        case int() | float():
            words = f"{value:,}" if int in kinds or float in kinds else "a number"
        case _:
            words = "a date"
    return f"{words}; put it in quotes" if str in kinds else words


def named(where: Where) -> str:
    """A setting as a person calls it."""
    name = ""
    for part in where:
        if isinstance(part, int):
            name += f" entry {part + 1}"
        else:
            name += f"{'' if not name else ' ' if ' ' in name else '.'}{part}"
    return name


def key_of(where: Where) -> str:
    """The dotted key of a setting, or of the list that it is in."""
    lists = [place for place, part in enumerate(where) if isinstance(part, int)]
    return ".".join(str(part) for part in where[: lists[0] if lists else None])


def line_of(path: Path, where: Where, data: Any) -> int:
    """The line of a file on which a setting stands, if it is there what it is in `data`; 0 if it is not."""
    from ruamel.yaml.error import YAMLError

    try:
        tree = _positions(path)
    except (OSError, ValueError, YAMLError):  # it is not the file that was read
        return 0
    line = 0
    for part in where:
        if not _has(tree, part):
            return 0
        at = tree.lc.item(part) if isinstance(part, int) else tree.lc.key(part)
        line, tree, data = at[0] + 1, tree[part], data[part]
    return line if tree == data else 0


def _has(tree: Any, part: str | int) -> bool:
    return part in tree if isinstance(tree, dict) else isinstance(tree, list) and part in range(len(tree))


def lines_of(path: Path) -> dict[str, int]:
    """The line on which each dotted key of a file stands."""
    found: dict[str, int] = {}

    def walk(tree: Any, before: str) -> None:
        for name, value in tree.items():
            found[f"{before}{name}"] = tree.lc.key(name)[0] + 1
            if isinstance(value, dict):
                walk(value, f"{before}{name}.")

    walk(_positions(path) or {}, "")
    return found


def _positions(path: Path) -> Any:
    """A YAML file as data that knows its lines."""
    from ruamel.yaml import YAML

    return YAML().load(path.read_text(encoding="utf-8"))
