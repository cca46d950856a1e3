"""SOUL.md for a new home. `hermes.app.soul` reads it; this lies here because the first screen does not wait for the app."""

from pathlib import Path

from hermes.agent.prompt import IDENTITY

NAME = "SOUL.md"


def seed_soul(home: Path) -> bool:
    """Give a home the words that it would have without a file, for its owner to change; False if it has a file. Blocks."""
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    try:
        with (home / NAME).open("x", encoding="utf-8") as file:
            file.write(f"{IDENTITY}\n")
    except FileExistsError:
        return False
    (home / NAME).chmod(0o600)
    return True
