"""Styled text in lines of a given width. Styles are Textual's words, with the colours of the theme as $variables."""

from textual.content import Content

NARROWEST = 10
BLANK = Content("")


def wrap(content: Content, width: int, first: str | Content = "", rest: str | Content | None = None) -> list[Content]:
    """Lines at most so wide, the first behind `first` and the others behind `rest` (as much space, if nothing is given)."""
    head = _content(first)
    tail = _content(" " * head.cell_length if rest is None else rest)
    room = max(NARROWEST, width - max(head.cell_length, tail.cell_length))
    lines = content.wrap(room) or [Content("")]
    return [(head if index == 0 else tail) + line for index, line in enumerate(lines)]


def cut(content: Content, width: int) -> Content:
    """One line at most so wide."""
    return content if content.cell_length <= width else content.truncate(max(1, width), ellipsis=True)


def styled(text: str, style: str) -> Content:
    return Content.styled(text, style) if style else Content(text)


def _content(text: str | Content) -> Content:
    return Content(text) if isinstance(text, str) else text
