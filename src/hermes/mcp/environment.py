"""The environment that a server's process gets: what any program needs, and what the configuration names for it."""

from collections.abc import Mapping

_NAMES = frozenset({"PATH", "HOME", "USER", "LOGNAME", "LANG", "TERM", "SHELL", "TMPDIR"})
_PREFIXES = ("LC_", "XDG_")
# Bash runs such a value as code when it starts: it is an exported function.
_FUNCTION = "()"


def child_env(environ: Mapping[str, str], extra: Mapping[str, str]) -> dict[str, str]:
    """The few variables of `environ` that a server may see, with those of `extra` over them; no exported bash functions."""
    inherited = {name: value for name, value in environ.items() if name in _NAMES or name.startswith(_PREFIXES)}
    return {name: value for name, value in {**inherited, **extra}.items() if not value.startswith(_FUNCTION)}
