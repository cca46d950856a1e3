"""SOUL.md: who Hermes is, in the words of whoever owns the home."""

from pathlib import Path

from hermes.agent.prompt import IDENTITY

NAME = "SOUL.md"
FORMER: tuple[str, ...] = ()
"""What IDENTITY was in earlier versions: a file that still says so was seeded by one of them, and nobody changed it."""


def read_soul(home: Path) -> str:
    """What the owner wrote; "" if there is nothing, or only what was seeded: then Hermes has the words of its version."""
    try:
        text = (home / NAME).read_text(encoding="utf-8", errors="replace").strip()
    except FileNotFoundError:
        return ""
    return "" if text in (IDENTITY, *FORMER) else text
