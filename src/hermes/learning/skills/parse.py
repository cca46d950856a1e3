"""A SKILL.md as Hermes knows it: what others write is read leniently, what Hermes writes keeps to agentskills.io.

The format knows six keys: name, description, license, compatibility, metadata and allowed-tools. What Hermes adds stands
under metadata as texts whose names begin with "hermes-"; others' nested metadata.hermes and top-level keys are read too.
"""

import re
from pathlib import Path
from typing import Any, cast

from msgspec import Struct

from hermes.learning.skills import front
from hermes.protocol.errors import UserError

FILE = "SKILL.md"
LONGEST_NAME = 64
LONGEST_DESCRIPTION = 1_024
LONGEST_COMPATIBILITY = 500
LONGEST_TEXT = 100_000
OURS = "hermes-"
LISTS = (
    "tags",
    "platforms",
    "requires_tools",
    "requires_toolsets",
    "fallback_for_tools",
    "fallback_for_toolsets",
    "related_skills",
)
_readable = re.compile(r"[a-z0-9][a-z0-9._-]*")
_writable = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class Variable(Struct, frozen=True):
    """A variable of the environment that a skill needs, and what to tell the person about it."""

    name: str
    prompt: str = ""


class Skill(Struct, frozen=True, kw_only=True):
    """The text of a skill. It is hidden where its `platforms` are not ours or a tool that it `requires` is missing, and where
    a tool is there that it is only a `fallback_for`."""

    name: str
    description: str
    body: str
    license: str = ""
    compatibility: str = ""
    allowed_tools: str = ""
    metadata: dict[str, str] = {}
    version: str = ""
    category: str = ""
    tags: tuple[str, ...] = ()
    platforms: tuple[str, ...] = ()
    requires_tools: tuple[str, ...] = ()
    requires_toolsets: tuple[str, ...] = ()
    fallback_for_tools: tuple[str, ...] = ()
    fallback_for_toolsets: tuple[str, ...] = ()
    related_skills: tuple[str, ...] = ()
    variables: tuple[Variable, ...] = ()


def read_skill(folder: Path) -> Skill:
    """The skill in a folder; UserError in one line if it cannot be used."""
    path = folder / FILE
    try:
        text = path.read_text(encoding="utf-8")
        return parse(text, folder.name)
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"{path}: {getattr(error, 'strerror', None) or 'it is not UTF-8'}", "mend it") from None
    except UserError as error:
        raise UserError(f"{path}: {error}", error.hint) from None


def parse(text: str, folder: str = "") -> Skill:
    """A skill from its text; a text without a name has that of its folder."""
    if len(text) > LONGEST_TEXT:
        raise UserError(f"it has {len(text):,} characters", f"{LONGEST_TEXT:,} at most; move some to references/")
    yaml, body = front.split(text)
    values = front.read(yaml)
    name = _text(values.get("name")) or folder
    description = " ".join(_text(values.get("description")).split())
    if not _readable.fullmatch(name) or len(name) > LONGEST_NAME:
        raise UserError(f"its name {name[:80]!r} is not one", "small letters, digits and hyphens, 64 at most")
    if not description or len(description) > LONGEST_DESCRIPTION:
        raise UserError(
            f"its description has {len(description):,} characters",
            f"1 to {LONGEST_DESCRIPTION:,}: what it is for, and when",
        )
    return _skill(name, description, body, values)


def render(skill: Skill) -> str:
    """The text of a SKILL.md; UserError where agentskills.io would not allow it."""
    check_name(skill.name)
    if not skill.description or len(skill.description) > LONGEST_DESCRIPTION:
        raise UserError(
            f"the description must have 1 to {LONGEST_DESCRIPTION:,} characters", "say what it is for, and when"
        )
    if len(skill.compatibility) > LONGEST_COMPATIBILITY:
        raise UserError(f"compatibility may have {LONGEST_COMPATIBILITY} characters", "shorten it")
    ours = {f"{OURS}{name.replace('_', '-')}": ", ".join(getattr(skill, name)) for name in LISTS}
    ours |= {f"{OURS}category": skill.category, f"{OURS}version": skill.version}
    ours[f"{OURS}variables"] = ", ".join(each.name for each in skill.variables)
    head = front.write(
        {
            "name": skill.name,
            "description": " ".join(skill.description.split()),
            "license": skill.license,
            "compatibility": skill.compatibility,
            "allowed-tools": skill.allowed_tools,
            "metadata": skill.metadata | {name: value for name, value in ours.items() if value},
        }
    )
    text = f"{head}\n{skill.body.strip()}\n"
    if len(text) > LONGEST_TEXT:
        raise UserError(
            f"the skill has {len(text):,} characters", f"{LONGEST_TEXT:,} at most; move some to references/"
        )
    return text


def write_skill(folder: Path, skill: Skill) -> None:
    """Write the SKILL.md of a skill into its folder, which has its name."""
    text = render(skill)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / FILE).write_text(text, encoding="utf-8")


def check_name(name: str) -> None:
    """UserError if agentskills.io allows no skill of this name."""
    if not _writable.fullmatch(name) or len(name) > LONGEST_NAME:
        raise UserError(
            f"{name[:80]!r} cannot be the name of a skill", "small letters, digits and single hyphens, 64 at most"
        )


def _skill(name: str, description: str, body: str, values: dict[str, Any]) -> Skill:
    metadata = _mapping(values.get("metadata"))
    nested = _mapping(metadata.get("hermes"))
    flat = {key: _text(value) for key, value in metadata.items() if key != "hermes" and not isinstance(value, dict)}
    ours = {key.removeprefix(OURS).replace("-", "_"): flat.pop(key) for key in list(flat) if key.startswith(OURS)}

    def find(key: str) -> Any:
        return ours.get(key) or nested.get(key) or values.get(key) or values.get(key.replace("_", "-"))

    return Skill(
        name=name,
        description=description,
        body=body,
        license=_text(values.get("license")),
        compatibility=_text(values.get("compatibility")),
        allowed_tools=" ".join(_list(values.get("allowed-tools"), r"\s+")),
        metadata=flat,
        version=_text(find("version") or flat.get("version")),
        category=_text(find("category")),
        variables=_variables(find("variables") or values.get("required_environment_variables")),
        **{key: _list(find(key)) for key in LISTS},
    )


def _variables(value: Any) -> tuple[Variable, ...]:
    if not isinstance(value, list):
        return tuple(Variable(name) for name in _list(value))
    entries = [_mapping(each) or {"name": _text(each)} for each in cast(list[Any], value)]
    return tuple(Variable(_text(each.get("name")), _text(each.get("prompt"))) for each in entries if each.get("name"))


def _list(value: Any, between: str = r"\s*,\s*") -> tuple[str, ...]:
    """A list, however it is written: as one, or as a text with commas."""
    if not value:
        return ()
    each = cast(list[Any], value) if isinstance(value, list | tuple) else re.split(between, _text(value))
    return tuple(text for one in each if (text := _text(one)))


def _mapping(value: Any) -> dict[str, Any]:
    return {str(key): each for key, each in cast(dict[Any, Any], value).items()} if isinstance(value, dict) else {}


def _text(value: Any) -> str:
    match value:
        case None | dict() | list():
            return ""
        case bool():
            return str(value).lower()
        case _:
            return str(value).strip()
