"""The words inside a block of Markdown: bold, italic, code, links."""

from typing import TYPE_CHECKING

from textual.content import Content, Span

if TYPE_CHECKING:
    from markdown_it.token import Token

STYLES = {"strong": "bold", "em": "italic", "s": "strike", "link": "underline $text-accent"}
CODE = "$text-warning on $surface"


def inline(token: "Token") -> Content:
    """A token of kind inline as styled text."""
    text, spans, opened = "", list[Span](), list[tuple[str, int, str]]()
    for child in token.children or ():
        kind, _, side = child.type.rpartition("_")
        if side == "open":
            opened.append((kind, len(text), str(child.attrs.get("href", ""))))
        elif side == "close" and opened:
            kind, start, address = opened.pop()
            if address and address != text[start:]:
                text += f" ({address})"
            spans.append(Span(start, len(text), STYLES.get(kind, "")))
        elif child.type == "code_inline":
            spans.append(Span(len(text), len(text) + len(child.content), CODE))
            text += child.content
        elif child.type in ("softbreak", "hardbreak"):
            text += "\n"
        elif child.type == "image":
            text += f"[{child.content or 'picture'}]"
        else:
            text += child.content
    return Content(text, spans=spans)
