"""A web page as plain text: what a reader would see, without scripts, styles and markup."""

import re
from html.parser import HTMLParser

from hermes.safety.secrets.plausible import words

UNSEEN = frozenset({"script", "style", "noscript", "template", "svg", "math", "iframe", "object", "select"})
BLOCKS = words(
    "address article aside blockquote dd details div dl dt fieldset figcaption figure footer form header hr li main nav "
    "ol p pre section summary table tbody td tfoot th thead title tr ul h1 h2 h3 h4 h5 h6"
)
BEFORE = {"li": "- ", "h1": "# ", "h2": "## ", "h3": "### ", "h4": "#### ", "h5": "##### ", "h6": "###### "}
_spaces = re.compile(r"\s+")
_gaps = re.compile(r"\n{3,}")


def plain(html: str) -> str:
    """The text of a page, a line for each paragraph, heading and entry of a list."""
    reader = _Reader()
    reader.feed(html)
    reader.close()
    reader.end_line()
    return _gaps.sub("\n\n", "\n".join(reader.lines)).strip()


class _Reader(HTMLParser):
    """Gathers lines; what stands in an unseen element is left out, what is preformatted stays as it is."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.lines: list[str] = []
        self._line: list[str] = []
        self._unseen: list[str] = []
        self._preformatted = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in UNSEEN:
            self._unseen.append(tag)
        if self._unseen:
            return
        if tag == "br":
            self.end_line()
        elif tag == "img" and (told := dict(attrs).get("alt")):
            self._line.append(f"[{told}]")
        elif tag in BLOCKS:
            self.end_line()
            self._line.append(BEFORE.get(tag, ""))
        if tag == "pre":
            self._preformatted += 1

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in UNSEEN:
            self.handle_starttag(tag, attrs)

    def handle_endtag(self, tag: str) -> None:
        if self._unseen:
            if tag in self._unseen:  # with all that was left open within it
                del self._unseen[self._unseen.index(tag) :]
            return
        if tag in BLOCKS:
            self.end_line()
            if tag not in ("li", "td", "th", "dt"):
                self.lines.append("")
        if tag == "pre":
            self._preformatted = max(0, self._preformatted - 1)

    def handle_data(self, data: str) -> None:
        if self._unseen:
            return
        if self._preformatted:
            self._line.append(data)
        else:
            self._line.append(_spaces.sub(" ", data))

    def end_line(self) -> None:
        text = "".join(self._line)
        self._line.clear()
        if self._preformatted:
            self.lines.extend(text.strip("\n").split("\n") if text.strip() else [])
        elif text.strip(" #-"):
            self.lines.append(_spaces.sub(" ", text).strip())
