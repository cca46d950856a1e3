"""Large pastes stand in the box as one short word; what is sent is the whole text."""

import re

MOST_LINES, MOST_CHARACTERS = 5, 2000
PLACEHOLDER = re.compile(r"\[pasted [\d,]+ (?:lines|characters) #\d+\]")


class Folds:
    """The pastes of one message, by the words that stand for them."""

    def __init__(self) -> None:
        self._texts: dict[str, str] = {}

    def fold(self, text: str) -> str:
        """What to put into the box: the text itself, or a word for it if it is large."""
        lines = text.count("\n") + 1
        if lines <= MOST_LINES and len(text) <= MOST_CHARACTERS:
            return text
        size = f"{lines:,} lines" if lines > MOST_LINES else f"{len(text):,} characters"
        placeholder = f"[pasted {size} #{len(self._texts) + 1}]"
        self._texts[placeholder] = text
        return placeholder

    def unfold(self, text: str) -> str:
        """A text with every paste in its place; a word that stands for nothing stays."""
        return PLACEHOLDER.sub(lambda found: self._texts.get(found[0], found[0]), text)

    def clear(self) -> None:
        self._texts.clear()
