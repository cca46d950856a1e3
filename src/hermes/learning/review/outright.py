"""A first look at what a person said: one text of many says to remember something, and only then are the tables loaded."""

# Some part of every phrase that says so, in casefolded form.
_PARTS = (
    *("remember", "in mind", "make a note", "take note", "note to self", "note that", "memori", "forget", "to memory"),
    *("merk dir", "merke dir", "denk daran", "vergiss", "notier", "behalt"),
    *("souviens", "rappelle", "retiens", "oublie", "note que", "mémorise"),
    *("recuerda", "acuérdate", "acuerdate", "olvides", "en cuenta", "anota que"),
    *("记", "記", "忘", "覚えて", "メモ"),
)


def may_be_wish(said: str) -> bool:
    """Whether a text may say to remember something; if not, it does not."""
    folded = said.casefold()
    return any(part in folded for part in _PARTS)
