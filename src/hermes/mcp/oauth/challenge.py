"""What a server's refusal says (WWW-Authenticate, RFC 6750 and 9728), and which scopes to ask for because of it."""

import re

from msgspec import Struct

Scopes = tuple[str, ...]

PARAMETER = re.compile(r'(?:^|[\s,])([A-Za-z0-9_-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))')
SCHEME = re.compile(r"(?:^|,)\s*([A-Za-z][A-Za-z0-9_-]*)(?=\s+[A-Za-z0-9_-]+\s*=|\s*(?:,|$))")
OFFLINE = "offline_access"


class Challenge(Struct, frozen=True):
    """The parts of a Bearer challenge that say how to get in; `scopes` is None if it names none."""

    error: str = ""
    scopes: Scopes | None = None
    metadata: str = ""
    """Where the server describes itself."""


def parse(header: str) -> Challenge:
    """Read the Bearer part of the header; anything else in it is left aside."""
    found: dict[str, str] = {}
    for name, quoted, bare in PARAMETER.findall(_bearer(header)):
        found.setdefault(name.lower(), re.sub(r"\\(.)", r"\1", quoted) or bare)
    scope = found.get("scope")
    return Challenge(
        found.get("error", ""), None if scope is None else tuple(scope.split()), found.get("resource_metadata", "")
    )


def union(*groups: Scopes) -> Scopes:
    """All scopes once, in the order in which they first appear."""
    return tuple(dict.fromkeys(scope for group in groups for scope in group))


def wanted(
    configured: Scopes, challenge: Challenge, offered: Scopes | None, known: Scopes | None, held: Scopes = ()
) -> Scopes:
    """The scopes to ask for: those of the config, else of the challenge, else what the resource offers, else none.

    With scopes `held`, which a step-up must not lose, all that was held or is asked for. offline_access, which a
    refresh token needs at some servers, is added where the login server knows it.
    """
    if held:
        chosen = union(held, configured, challenge.scopes or ())
    else:
        chosen = configured or challenge.scopes or offered or ()
    return union(chosen, (OFFLINE,)) if chosen and OFFLINE in (known or ()) else chosen


def _bearer(header: str) -> str:
    """The parameters of the Bearer challenge: up to the next scheme outside quotes."""
    blanked = re.sub(r'"(?:[^"\\]|\\.)*"', lambda quoted: '"' + "_" * (len(quoted[0]) - 2) + '"', header)
    schemes = list(SCHEME.finditer(blanked))
    for number, scheme in enumerate(schemes):
        if scheme[1].lower() == "bearer":
            end = schemes[number + 1].start() if number + 1 < len(schemes) else len(header)
            return header[scheme.end() : end]
    return ""
