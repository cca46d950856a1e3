"""The environment that children get: ours without what is secret."""

import re
from collections.abc import Iterable, Mapping

_SECRET = re.compile(
    r"KEYS?\d*(_|$)|TOKEN|SECRET|PASSW|PASSPHRASE|CRED(ENTIAL)?S?(_|$)|PRIVATE|BEARER|JWT|COOKIE|WEBHOOK|CONNECTION_STRING"
    r"|(^|_)(AUTH|DSN|PAT|PASS|PGPASS)(_|$)|_PWD$"
)
_HARMLESS = frozenset({"SSH_AUTH_SOCK", "XAUTHORITY", "DBUS_SESSION_BUS_ADDRESS"})
_URL_WITH_PASSWORD = re.compile(r"^[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@", re.IGNORECASE)


def scrubbed(environ: Mapping[str, str], passed: Iterable[str] = ()) -> dict[str, str]:
    """The variables that a child may see: none that is named like a secret or holds a password in a URL.

    `passed` names those that the person lets through all the same.
    """
    named = set(passed)
    return {
        name: value
        for name, value in environ.items()
        if name in named or name in _HARMLESS or not (_SECRET.search(name.upper()) or _URL_WITH_PASSWORD.match(value))
    }
