"""What a person has typed, in this process and others, now and before: one file for the screen and the line chat."""

import logging
import os
from collections.abc import Iterator
from pathlib import Path

import msgspec

from hermes.config import locked, replace_private
from hermes.protocol.errors import UserError

log = logging.getLogger(__name__)
KEPT = 1000
"""Entries that are read; a file with more than twice as many is cut down to these."""
PATIENCE = 2.0


class PromptHistory:
    """Entries, the oldest first. A file of mode 0600 has one a line; an entry of several lines is written as JSON."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.entries: list[str] = []

    def read(self) -> None:
        """Take in what earlier sessions left. Blocks."""
        try:
            lines = self.path.read_text(encoding="utf-8", errors="replace").split("\n")
        except FileNotFoundError:
            log.info("nothing that was typed before is kept in %s", self.path)
            return
        except OSError as error:
            log.warning("what was typed before cannot be read: %s", error)
            return
        before, typed = [_decoded(line) for line in lines[-KEPT - 1 :] if line], self.entries
        if typed and before[-len(typed) :] == typed:  # typed and written while we read
            before = before[: -len(typed)]
        self.entries = [*before, *typed]
        if len(lines) > 2 * KEPT:
            self._cut()

    def remember(self, text: str) -> bool:
        """Take in what was just typed; False if that is nothing new."""
        if not text.strip() or (self.entries and self.entries[-1] == text):
            return False
        self.entries.append(text)
        return True

    def write(self, text: str) -> None:
        """Add an entry to the file, whoever else adds one meanwhile. Blocks."""
        line = (_encoded(text) + "\n").encode()
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            with locked(self.path, PATIENCE):
                handle = os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC, 0o600)
                try:
                    os.write(handle, line)
                finally:
                    os.close(handle)
        except (OSError, UserError) as error:
            log.warning("what was typed is not kept in %s: %s", self.path, error)

    def before(self, start: str) -> str:
        """The newest entry that goes on from a start; "" if there is none."""
        if not start:
            return ""
        return next((entry for entry in reversed(self.entries) if entry.startswith(start) and entry != start), "")

    def search(self, words: str) -> Iterator[str]:
        """Entries that have these words in them, the newest first, each once; case counts only if capitals are given."""
        seen: set[str] = set()
        for entry in reversed(self.entries):
            if entry not in seen and words in (entry if words != words.lower() else entry.lower()):
                seen.add(entry)
                yield entry

    def _cut(self) -> None:
        """Leave the newest entries in the file, with what others added in the meantime."""
        try:
            with locked(self.path, PATIENCE):
                lines = self.path.read_text(encoding="utf-8", errors="replace").split("\n")
                replace_private(self.path, "\n".join(lines[-KEPT - 1 :]))
        except (OSError, UserError) as error:
            log.warning("%s stays as long as it is: %s", self.path, error)


def _encoded(text: str) -> str:
    text = text.encode(errors="replace").decode()
    return text if text.isprintable() and not text.startswith('"') else msgspec.json.encode(text).decode()


def _decoded(line: str) -> str:
    """An entry as it was typed; a line that only looks like JSON is what was typed itself."""
    if not line.startswith('"'):
        return line
    try:
        return msgspec.json.decode(line, type=str)
    except msgspec.DecodeError:
        return line
