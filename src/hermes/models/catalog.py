"""The vendors of catalog.toml as typed rows; a row is parsed when it is asked for."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import msgspec
from msgspec import Struct

from hermes.models.prices import Prices
from hermes.models.quirks import Quirks
from hermes.protocol.errors import UserError

WINDOW = 128_000
"""The context of a model of which nothing is known."""

_snapshot = re.compile(r"[-@](?:\d{8}|\d{4}-\d{2}-\d{2}|latest)$")
_header = re.compile(r"^\[(\w+)\]$", re.MULTILINE)


class DeviceFlow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where and as whom to log in; `refresh_header` carries the refresh token if the server wants it outside the form."""

    device: str
    token: str
    client: str
    scope: str = ""
    refresh_header: str = ""


class Facts(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is known of one model; `price` and `long` are written as catalog.toml says."""

    window: int = WINDOW
    output: int | None = None
    price: tuple[float, ...] = ()
    long: tuple[float, ...] = ()
    quirks: dict[str, Any] = {}

    @property
    def prices(self) -> Prices | None:
        if not self.price:
            return None
        if not self.long:
            return _prices(*self.price)
        start, *dearer = self.long
        return msgspec.structs.replace(_prices(*self.price), long_from=int(start), long=_prices(*dearer))


def _prices(input: float, output: float, read: float | None = None, write: float | None = None) -> Prices:
    return Prices(input=input, output=output, cache_read=read, cache_write=write)


class Vendor(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One row; catalog.toml says what each field means."""

    name: str
    title: str
    aliases: tuple[str, ...] = ()
    url: str = ""
    keys: tuple[str, ...] = ()
    keyless: bool = False
    dialect: Literal["chat", "responses", "anthropic", "local"] = "chat"
    default: str = ""
    auxiliary: str = ""
    slug: str = ""
    names: Literal["", "slugs", "dashes"] = ""
    prefix: str = ""
    lists: bool = True
    login: DeviceFlow | None = None
    quirks: Quirks = Quirks()
    models: dict[str, Facts] = {}

    def known(self, model: str) -> str | None:
        """The id under which the row knows a model, whatever its case, or the model that a dated id is a snapshot of."""
        plain = _snapshot.sub("", model).lower()
        return next((known for known in self.models if known.lower() in (model.lower(), plain)), None)


class Catalog:
    """Every vendor by name, in the order of the file."""

    def __init__(self, text: str = "") -> None:
        text = text or Path(__file__).with_name("catalog.toml").read_text(encoding="utf-8")
        starts = list(_header.finditer(text))
        ends = [*(start.start() for start in starts[1:]), len(text)]
        self._rows = {start[1]: text[start.start() : end] for start, end in zip(starts, ends, strict=True)}
        self._parsed: dict[str, Vendor] = {}

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._rows)

    def __iter__(self) -> Iterator[Vendor]:
        return map(self.__getitem__, self._rows)

    def __getitem__(self, name: str) -> Vendor:
        """The row of that exact name."""
        if name not in self._parsed:
            import tomllib

            row = tomllib.loads(self._rows[name])[name]
            self._parsed[name] = msgspec.convert({"name": name, **row}, Vendor)
        return self._parsed[name]

    def find(self, name: str) -> Vendor | None:
        """By name or by one of the other names that people type."""
        name = name.strip().lower()
        if name in self._rows:
            return self[name]
        return next((vendor for vendor in self if name in vendor.aliases), None)

    def get(self, name: str) -> Vendor:
        """Like find, but a name that nobody has is an error which names the nearest ones."""
        vendor = self.find(name)
        if vendor is None:
            raise self.unknown(name)
        return vendor

    def nearest(self, name: str) -> list[str]:
        """Names that a mistyped one may have meant."""
        from difflib import get_close_matches

        every = [*self.names, *(alias for vendor in self for alias in vendor.aliases)]
        return get_close_matches(name.lower(), every, n=3, cutoff=0.7)

    def unknown(self, name: str) -> UserError:
        """Nobody has this name; the hint has the nearest ones."""
        close = self.nearest(name)
        hint = f"did you mean {' or '.join(close)}?" if close else f"known providers: {', '.join(self.names)}"
        return UserError(f"there is no provider {name!r}", hint)

    def owner(self, model: str) -> Vendor | None:
        """The first vendor whose row has a model."""
        return next((vendor for vendor in self if vendor.known(model)), None)
