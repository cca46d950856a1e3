"""Going through what was typed before: up to older entries, down again, and back to what was being typed."""

from hermes.commands.registry import Completion
from hermes.tui.prompt.history import PromptHistory

MOST_FOUND = 50


class Recall:
    """Where somebody is in the history; nowhere until they go up."""

    def __init__(self, history: PromptHistory) -> None:
        self._history = history
        self._at: int | None = None
        self._draft = ""

    def older(self, text: str) -> str | None:
        """The entry before this one; None if there is none. What is typed now is kept as a draft."""
        entries = self._history.entries
        if self._at is None:
            self._draft = text
        at = len(entries) if self._at is None else self._at
        if at == 0:
            return None
        self._at = at - 1
        return entries[self._at]

    def newer(self) -> str | None:
        """The entry behind this one, at last the draft; None if that is where one is."""
        if self._at is None:
            return None
        self._at += 1
        if self._at < len(self._history.entries):
            return self._history.entries[self._at]
        self._at = None
        return self._draft

    def leave(self) -> None:
        """What stands in the box now is a text of its own."""
        self._at = None

    def found(self, words: str) -> list[Completion]:
        """The entries that have these words in them, the newest first."""
        return [
            Completion(text=entry) for entry, _ in zip(self._history.search(words), range(MOST_FOUND), strict=False)
        ]

    def suggestion(self, text: str) -> str:
        """How the newest entry that begins so goes on in this line."""
        return self._history.before(text)[len(text) :].partition("\n")[0]
