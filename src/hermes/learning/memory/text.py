"""Entries as text: how a file holds them."""

import re
from collections.abc import Iterable

from hermes.protocol.targets import Target

SEPARATOR = "§"
NAMES: dict[Target, str] = {"memory": "MEMORY.md", "user": "USER.md"}
_between = re.compile(rf"^[ \t]*{SEPARATOR}[ \t]*$", re.MULTILINE)


def split(text: str) -> tuple[str, ...]:
    """The entries of a file, without empty ones and without repetitions."""
    parts = (part.strip() for part in _between.split(text.replace("\r\n", "\n").lstrip("\ufeff")))
    return tuple(dict.fromkeys(part for part in parts if part))


def join(entries: Iterable[str]) -> str:
    """A file that holds these entries."""
    text = f"\n{SEPARATOR}\n".join(entries)
    return f"{text}\n" if text else ""


def size(entries: Iterable[str]) -> int:
    """Characters that entries take up in their file."""
    return len(join(entries).removesuffix("\n"))


def clean(content: str) -> str:
    """An entry as it is kept: its lines without spaces at their ends."""
    return "\n".join(line.rstrip() for line in content.replace("\r\n", "\n").strip().splitlines())


def holds_separator(content: str) -> bool:
    return bool(_between.search(content))


def normal(content: str) -> str:
    """What is equal for two entries that differ in nothing but case and spaces."""
    return " ".join(content.casefold().split())
