"""Folders that build tools fill: inside the sandbox they are its own, so that no command can spoil what you build with.

The sandbox's are kept from session to session, in Hermes' home; a first build fetches again, later ones do not.
"""

import os
from collections.abc import Iterator, Mapping

from msgspec import Struct

from hermes.safety.sandbox.bounds import Mount


class Cache(Struct, frozen=True):
    """A folder in the home, the variable that moves it, and what in it stays the person's own (to be read)."""

    path: str
    variable: str
    kept: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        return self.path.lstrip(".").replace("/", "-")


COMMON = Cache(".cache", "XDG_CACHE_HOME", ("huggingface", "torch", "ms-playwright", "puppeteer"))
CACHES = (
    Cache(".npm", "npm_config_cache"),
    Cache(".cargo", "CARGO_HOME", ("bin", "env", "config", "config.toml")),
    Cache("go/pkg/mod", "GOMODCACHE"),
    Cache(".gradle", "GRADLE_USER_HOME", ("init.d", "wrapper")),
)


def covered(home: str, env: Mapping[str, str], own: str) -> tuple[tuple[Mount, ...], dict[str, str]]:
    """Rules that put the sandbox's folders over the person's, and variables for those that the person does not have."""
    common = _place(COMMON, home, env)
    os.makedirs(common, exist_ok=True)
    rules = [*_cover(COMMON, common, own)]
    variables: dict[str, str] = {}
    for cache in CACHES:
        place = _place(cache, home, env)
        if os.path.isdir(place):
            rules += _cover(cache, place, own)
        else:
            variables[cache.variable] = os.path.join(common, cache.name)
    return tuple(rules), variables


def moved(own: str) -> dict[str, str]:
    """Variables that send every tool to the sandbox's folders, where nothing can be put over another folder."""
    return {cache.variable: _made(own, cache) for cache in (COMMON, *CACHES)}


def _cover(cache: Cache, place: str, own: str) -> Iterator[Mount]:
    yield Mount(place, "write", _made(own, cache))
    for name in cache.kept:
        path = os.path.join(place, name)
        if os.path.lexists(path) and not os.path.islink(path):
            yield Mount(path, "read")


def _place(cache: Cache, home: str, env: Mapping[str, str]) -> str:
    return os.path.realpath(env.get(cache.variable) or os.path.join(home, cache.path))


def _made(own: str, cache: Cache) -> str:
    os.makedirs(path := os.path.join(own, cache.name), mode=0o700, exist_ok=True)
    return path
