"""The front matter of a SKILL.md: the YAML between two lines of dashes, read leniently and written strictly."""

import re
from typing import Any

import msgspec

from hermes.protocol.errors import UserError

LINE = "---"
_whole = re.compile(r"\ufeff?---[ \t]*\r?\n(.*?)^---[ \t]*(?:\r?\n|\Z)", re.DOTALL | re.MULTILINE)
_pair = re.compile(r"( *)([A-Za-z][\w-]*):(?: +(.*?))? *")
# What YAML reads as the text that it looks like: no quote, bracket, comment, anchor or second colon in it.
_plain = re.compile(r"(?![-?:] )[^\s\-\[\]{}&*!|>'\"%@`#,?:](?:(?!: | #).)*(?<!:)")
_double = re.compile(r'"([^"\\]*)"')
_single = re.compile(r"'([^']*)'")
# Words and numbers that YAML does not read as text.
_typed = re.compile(
    r"(?i)true|false|yes|no|on|off|null|~|[-+.]?[\d_.,:]+(?:e[-+]?\d+)?|0[xob][\da-f_]+|\d{4}-\d.*|[-+]?\.(?:inf|nan)"
)


def split(text: str) -> tuple[str, str]:
    """The YAML of a front matter and what stands behind it; UserError if there is no front matter."""
    if found := _whole.match(text):
        return found[1], text[found.end() :].lstrip("\r\n")
    raise UserError("it does not begin with a front matter", "put name and description between two lines of ---")


def read(text: str) -> dict[str, Any]:
    """The front matter's values. Almost every one is so plain that no YAML parser is needed, which takes 30 ms to import."""
    plain = _read_plain(text)
    return _read_yaml(text) if plain is None else plain


def write(values: dict[str, str | dict[str, str]]) -> str:
    """Values as YAML that reads back the same, dashes included; empty ones are left out."""
    lines = [LINE]
    for key, value in values.items():
        if isinstance(value, dict):
            if value:
                lines += [f"{key}:", *(f"  {name}: {_scalar(each)}" for name, each in value.items())]
        elif value:
            lines.append(f"{key}: {_scalar(value)}")
    return "\n".join([*lines, LINE, ""])


def _scalar(value: str) -> str:
    if _plain.fullmatch(value) and not _typed.fullmatch(value) and value == value.strip():
        return value
    return msgspec.json.encode(value).decode()


def _read_plain(text: str) -> dict[str, Any] | None:
    """Keys with one-line texts, or with keys of such texts under them; None if there is anything else."""
    values: dict[str, Any] = {}
    group: dict[str, str] | None = None
    for line in text.splitlines():
        if not line.strip():
            continue
        found = _pair.fullmatch(line)
        if found is None:
            return None
        indent, key, value = len(found[1]), found[2], _value(found[3] or "")
        if value is None:
            return None
        target = values if indent == 0 else group
        if target is None or key in target or (indent not in (0, 2)):
            return None
        if not found[3]:
            if indent:
                return None
            group = values[key] = {}
            continue
        target[key] = value
        group = None if indent == 0 else group
    return {key: value for key, value in values.items() if value != {}}


def _value(text: str) -> str | None:
    if quoted := _double.fullmatch(text) or _single.fullmatch(text):
        return quoted[1]
    return text if not text or (_plain.fullmatch(text) and not _typed.fullmatch(text)) else None


def _read_yaml(text: str) -> dict[str, Any]:
    from ruamel.yaml import YAML
    from ruamel.yaml.error import YAMLError

    yaml = YAML(typ="safe", pure=True)
    yaml.allow_duplicate_keys = True
    try:
        data = yaml.load(text)
    except (YAMLError, ValueError) as error:
        problem = getattr(error, "problem", None) or "not valid YAML"
        raise UserError(f"its front matter cannot be read: {problem}", "mend the lines between the dashes") from None
    if not isinstance(data, dict):
        raise UserError("its front matter has no keys", "put name and description between the dashes")
    return {str(key): value for key, value in data.items() if value is not None}
