"""Keys that somebody wrote in base64 or in hexadecimal, as manifests and scripts do: how they begin then."""

from base64 import b64encode

from hermes.safety.secrets.plausible import words

_KEYS = words("ghp_ github_pat_ glpat- sk-proj- sk-ant- sk_live_ xoxb- npm_ AKIA hvs.")
_FILES = tuple(f"-----BEGIN {kind}PRIVATE KEY" for kind in ("", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "))


def _in_base64(start: str) -> str:
    """What base64 makes of a text that starts so; its last letter would also hold bits of what follows."""
    return b64encode(start.encode()).decode()[: len(start) * 8 // 6]


# In front of the key, then what follows as a regular expression.
WRAPPED: tuple[tuple[str, str], ...] = (
    *((_in_base64(start), r"[A-Za-z0-9+/_-]{20,}={0,2}") for start in _KEYS + _FILES),
    *((start.encode().hex(), r"[a-f0-9]{32,}") for start in _KEYS),
)
