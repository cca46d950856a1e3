"""Skins: colours, words and signs of the screen. A YAML file in the home's `skins` folder, or one that Hermes brings."""

import difflib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from hermes.config import read_yaml
from hermes.protocol.errors import UserError

if TYPE_CHECKING:
    from textual.theme import Theme

DEFAULT = "default"


class Colors(Struct, frozen=True):
    """Colours as #rrggbb or by name."""

    background: str
    surface: str
    foreground: str
    banner_border: str
    banner_title: str
    banner_accent: str
    banner_dim: str
    ui_accent: str
    ui_label: str
    ui_ok: str
    ui_error: str
    ui_warn: str
    prompt: str
    input_rule: str


class Spinner(Struct, frozen=True):
    """What moves while Hermes waits for a tool, or thinks; `wings` stand left and right of it."""

    waiting_faces: tuple[str, ...]
    thinking_faces: tuple[str, ...]
    thinking_verbs: tuple[str, ...]
    wings: tuple[tuple[str, str], ...] = ()


class Branding(Struct, frozen=True):
    """Words of the screen's own."""

    agent_name: str
    welcome: str
    goodbye: str
    response_label: str
    prompt_symbol: str
    help_header: str


class Skin(Struct, frozen=True, kw_only=True):
    """How the screen looks and speaks."""

    name: str
    colors: Colors
    spinner: Spinner
    branding: Branding
    description: str = ""
    tool_prefix: str = "●"
    tool_emojis: Mapping[str, str] = {}
    banner_logo: str = ""
    banner_hero: str = ""


def load(name: str, folder: Path) -> Skin:
    """A skin by its name; UserError says which there are, or what is wrong with its file."""
    path = folder / f"{name}.yaml"
    built_in = _built_in()
    if "/" not in name and path.is_file():
        own = _without_nothing(read_yaml(path))
    elif name in built_in:
        own = built_in[name]
    else:
        known = names(folder)
        near = difflib.get_close_matches(name, known, 1)
        raise UserError(f"there is no skin {name!r}", f"did you mean {near[0]}?" if near else f"use {', '.join(known)}")
    try:
        skin = msgspec.convert(_over(built_in[DEFAULT], own) | {"name": name}, Skin)
        theme(skin)
    except (msgspec.ValidationError, ValueError) as error:
        raise UserError(f"{path}: {error}", "mend it, or choose another skin") from None
    return skin


def names(folder: Path) -> list[str]:
    """Every skin there is, those in the folder last."""
    own = sorted(path.stem for path in folder.glob("*.yaml")) if folder.is_dir() else []
    return list(dict.fromkeys([*_built_in(), *own]))


def theme(skin: Skin) -> "Theme":
    """The skin as Textual wants it; ValueError if a colour is none."""
    from textual.color import Color, ColorParseError
    from textual.theme import Theme

    colors = skin.colors
    for key, value in msgspec.structs.asdict(colors).items():
        try:
            Color.parse(value)
        except ColorParseError:
            raise ValueError(f"colors.{key}: {value!r} is no colour") from None
    return Theme(
        name=f"hermes-{skin.name}",
        primary=colors.ui_accent,
        secondary=colors.ui_label,
        accent=colors.banner_accent,
        warning=colors.ui_warn,
        error=colors.ui_error,
        success=colors.ui_ok,
        foreground=colors.foreground,
        background=colors.background,
        surface=colors.surface,
        panel=colors.surface,
        dark=Color.parse(colors.background).brightness < 0.5,
        variables=variables(skin),
    )


def variables(skin: Skin) -> dict[str, str]:
    """Colours that only Hermes has a use for, as variables of the style sheet."""
    colors = skin.colors
    return {
        "hermes-border": colors.banner_border,
        "hermes-title": colors.banner_title,
        "hermes-dim": colors.banner_dim,
        "hermes-prompt": colors.prompt,
        "hermes-rule": colors.input_rule,
    }


@cache
def _built_in() -> dict[str, dict[str, Any]]:
    import tomllib

    return tomllib.loads(files("hermes.tui").joinpath("skins.toml").read_text(encoding="utf-8"))


def _over(default: dict[str, Any], own: dict[str, Any]) -> dict[str, Any]:
    """The default with what a skin says instead."""
    both = dict(default)
    for key, value in own.items():
        inner = both.get(key)
        both[key] = _over(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return both


def _without_nothing(data: dict[str, Any]) -> dict[str, Any]:
    """A key with nothing behind it says nothing."""
    return {
        key: _without_nothing(value) if isinstance(value, dict) else value
        for key, value in data.items()
        if value is not None
    }
