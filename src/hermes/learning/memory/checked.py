"""Which texts of the memory files were scanned and found harmless: a start need not scan them again, which costs 15 ms."""

import contextlib
import hashlib
from collections.abc import Iterable
from pathlib import Path

from hermes.config import replace_private
from hermes.learning.memory.text import split

NAME = ".checked"


def is_checked(folder: Path, content: str) -> bool:
    try:
        return _mark(content) in (folder / NAME).read_text(encoding="ascii", errors="replace").split()
    except OSError:
        return False


def note_checked(folder: Path, contents: Iterable[str]) -> None:
    """Note which of these texts are harmless; the note is a saving only, so one that cannot be written is left."""
    from hermes.learning.memory.scan import why_refused

    harmless = [_mark(content) for content in contents if not any(map(why_refused, split(content)))]
    with contextlib.suppress(OSError):
        replace_private(folder / NAME, "\n".join(harmless))


def _mark(content: str) -> str:
    return hashlib.sha256(content.encode()).hexdigest()
