"""Find and load what is installed: one notation, "module:object", for built-ins, entry points and settings alike."""

from collections.abc import Mapping
from importlib import import_module
from typing import Any

from hermes.protocol.errors import UserError
from hermes.protocol.tools import PluginKind


def load(notation: str) -> Any:
    """The object that "module:object" names."""
    module, colon, name = notation.partition(":")
    if not colon:
        raise UserError(f"{notation!r} does not name a plugin", 'write it as "module:object"')
    try:
        return getattr(import_module(module), name)
    except Exception as error:  # it is somebody else's module, and may fail in any way
        raise UserError(f"the plugin {notation!r} cannot be loaded: {error}", "is its package installed?") from error


def find(kind: PluginKind, name: str, built_in: Mapping[str, str]) -> str | None:
    """The notation of a plugin: a built-in one, else an installed entry point of the group hermes.<kind>."""
    return built_in.get(name) or installed(kind).get(name)


def installed(kind: PluginKind) -> dict[str, str]:
    """Plugins that other packages bring. The first look costs 80 ms, so nobody looks for a name that is built in."""
    from importlib.metadata import entry_points

    return {entry.name: entry.value for entry in entry_points(group=f"hermes.{kind}")}
