"""The skills that come with Hermes: read where they lie; a skill of the same name in the home wins."""

from pathlib import Path

import hermes

MARKER = ".no-bundled-skills"
FOLDER = Path(hermes.__file__).parent / "bundled_skills"


def bundled_folder(home: Path) -> Path | None:
    """Where they are, or None if this home does without them."""
    return None if (home / MARKER).exists() else FOLDER


def opt_out(home: Path) -> bool:
    """Do without them; False if this home did so already."""
    marker = home / MARKER
    if marker.exists():
        return False
    home.mkdir(parents=True, exist_ok=True, mode=0o700)
    marker.touch()
    return True


def opt_in(home: Path) -> bool:
    """Have them again; False if they were there all the time."""
    marker = home / MARKER
    known = marker.exists()
    marker.unlink(missing_ok=True)
    return known
