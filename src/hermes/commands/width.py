"""How wide a text is on a screen, and texts cut to a width."""

from unicodedata import combining, east_asian_width


def places(text: str) -> int:
    """How wide a text is on a screen: Chinese and Japanese signs and most pictures take two places."""
    return sum(0 if combining(char) else 2 if east_asian_width(char) in "WF" else 1 for char in text)


def cut(text: str, width: int) -> str:
    """The beginning of a text, with an ellipsis where it was longer than `width` places."""
    if places(text) <= width:
        return text
    kept = text
    while places(kept) > width - 1:
        kept = kept[:-1]
    return kept.rstrip() + "…"
