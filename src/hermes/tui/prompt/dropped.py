"""Files that are dropped on a terminal arrive as a paste: their paths, quoted, escaped or as file:// addresses."""

import os
import re
import shlex
from pathlib import Path
from urllib.parse import unquote, urlsplit

PICTURES = frozenset({".png", ".jpg", ".jpeg", ".gif", ".webp"})
LONGEST = 8192


def dropped(text: str) -> list[Path]:
    """The files and folders that a paste names; none if it is anything else than paths of what is there."""
    text = text.strip()
    if not text or len(text) > LONGEST or not re.match(r"""file://|["']|/""", text):
        return []
    try:
        words = shlex.split(text)
    except ValueError:
        return []
    paths = [_path(word) for word in words]
    return [path for path in paths if path] if all(paths) else []


def is_picture(path: Path) -> bool:
    return path.suffix.lower() in PICTURES and path.is_file()


def reference(path: Path, root: Path | None) -> str:
    """How a message refers to a path: as a reference if it lies in the workspace, else by its name."""
    written, real = str(path), os.path.realpath(path)
    if root is not None and Path(real).is_relative_to(os.path.realpath(root)):
        kind = "folder" if path.is_dir() else "file"
        inside = os.path.relpath(real, os.path.realpath(root))
        return f'@{kind}:"{inside}"' if re.search(r"[\s'`]", inside) else f"@{kind}:{inside}"
    return shlex.quote(written)


def _path(word: str) -> Path | None:
    """An absolute path of something that is there."""
    if word.startswith("file://"):
        address = urlsplit(word)
        if address.netloc not in ("", "localhost"):
            return None
        word = unquote(address.path)
    try:
        return Path(word) if word.startswith("/") and os.path.exists(word) else None
    except ValueError:
        return None
