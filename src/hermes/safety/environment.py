"""The environment that children get: ours without what is secret."""

import re
from collections.abc import Mapping

_SECRET = re.compile(
    r"KEYS?\d*(_|$)|TOKEN|SECRET|PASSW|PASSPHRASE|CRED(ENTIAL)?S?(_|$)|PRIVATE|BEARER|JWT|COOKIE|WEBHOOK|CONNECTION_STRING"
    r"|(^|_)(AUTH|DSN|PAT|PASS|PGPASS)(_|$)|_PWD$"
)
_HARMLESS = frozenset({"SSH_AUTH_SOCK", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS"})
_STEERS_SHELLS = frozenset({"BASH_ENV", "ENV", "CDPATH", "SHELLOPTS", "BASHOPTS", "PROMPT_COMMAND", "PS4"})
_URL_WITH_PASSWORD = re.compile(r"^[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@", re.IGNORECASE)


def scrubbed(environ: Mapping[str, str]) -> dict[str, str]:
    """The variables that a child may see: none that is named like a secret, holds a password in a URL, or makes a shell
    do more than it is told."""
    return {
        name: value
        for name, value in environ.items()
        if name in _HARMLESS
        or not (name in _STEERS_SHELLS or _SECRET.search(name.upper()) or _URL_WITH_PASSWORD.match(value))
    }
