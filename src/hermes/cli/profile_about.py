"""What a profile is for, in the words of its owner, and what it has."""

from pathlib import Path

from hermes import config
from hermes.cli.aliases import aliases_of
from hermes.cli.homes import DATABASE
from hermes.cli.words import many
from hermes.learning.skills.bundled import bundled_folder
from hermes.learning.skills.hub import skills_in
from hermes.protocol.errors import UserError

DESCRIPTION = "description"
LONGEST = 500


def read_description(home: Path) -> str:
    try:
        return " ".join((home / DESCRIPTION).read_text(encoding="utf-8", errors="replace").split())
    except FileNotFoundError:
        return ""


def keep_description(home: Path, text: str) -> None:
    """Set what a profile is for; an empty text takes it away."""
    text = " ".join(text.split())
    if len(text) > LONGEST:
        raise UserError(f"the description has {len(text)} characters", f"{LONGEST} at most")
    if text:
        config.write_private(home / DESCRIPTION, f"{text}\n")
    else:
        (home / DESCRIPTION).unlink(missing_ok=True)


def facts_of(name: str, home: Path, model: str) -> dict[str, str]:
    """What there is to tell of a profile, a line each. Blocks."""
    database = home / DATABASE
    own = [place for place in skills_in(home / "skills") if not place.startswith(".")]
    bundled = "those that come with Hermes" if bundled_folder(home) else "none of those that come with Hermes"
    return {
        "about": read_description(home) or "not described",
        "home": str(home),
        "model": model or "not set",
        "secrets": ", ".join(config.read_env(home / ".env")) or "none",
        "database": f"{database.stat().st_size / 1e6:,.1f} MB" if database.exists() else "none yet",
        "skills": f"{many(len(own), 'skill')} of its own, {bundled}",
        "commands": ", ".join(map(str, aliases_of(name, config.environment()))) or "none",
    }
