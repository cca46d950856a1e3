"""Markdown as lines of styled text. Text that grows is drawn block by block: only the last one again."""

from collections.abc import Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from textual.content import Content

from hermes.tui.inline import inline
from hermes.tui.tables import table
from hermes.tui.wrapping import BLANK, cut, styled, wrap

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

CODE_PART = 100
"""Lines of code that are coloured together: of a long block that grows, only its end is coloured again."""
HEADINGS = {"h1": "bold underline $primary", "h2": "bold $primary", "h3": "bold $secondary"}


class Markdown:
    """A text that may grow, and its lines at the width that was last asked for."""

    def __init__(self, text: str = "") -> None:
        self.text = text
        self._width = 0
        self._settled = 0
        self._lines: list[Content] = []

    def lines(self, width: int) -> list[Content]:
        if width != self._width:
            self._width, self._settled, self._lines = width, 0, []
        *done, (start, last) = _blocks(self.text[self._settled :])
        for _, tokens in done:
            self._add(self._lines, _draw(tokens, width))
        self._settled += start
        lines = list(self._lines)
        self._add(lines, _draw(last, width))
        return lines

    @staticmethod
    def _add(lines: list[Content], more: list[Content]) -> None:
        if lines and more:
            lines.append(BLANK)
        lines += more


def warm_up() -> None:
    """Load the parser and the lexers, so that the first reply does not wait for them. Blocks for a fifth of a second."""
    Markdown("```python\npass\n```").lines(20)


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt  # 40 ms that the first paint does without

    return MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])


def _blocks(text: str) -> "list[tuple[int, list[Token]]]":
    """The outermost blocks of a text, each with the place where it begins; an empty one if there is none."""
    starts = [0]
    for line in text.split("\n"):
        starts.append(starts[-1] + len(line) + 1)
    found: list[tuple[int, list[Token]]] = []
    for token in _parser().parse(text):
        if token.level == 0 and token.nesting >= 0:
            found.append((starts[token.map[0]] if token.map else 0, []))
        found[-1][1].append(token)
    return found or [(0, [])]


def _draw(tokens: "Sequence[Token]", width: int) -> list[Content]:
    """The lines of some blocks, with an empty one between two of them."""
    lines: list[Content] = []
    for group in _groups(tokens):
        drawn = _block(group, width)
        if lines and drawn:
            lines.append(BLANK)
        lines += drawn
    return lines


def _groups(tokens: "Sequence[Token]") -> "Iterator[Sequence[Token]]":
    """Tokens from each opening one to its end."""
    depth = start = 0
    for index, token in enumerate(tokens):
        depth += token.nesting
        if depth == 0:
            yield tokens[start : index + 1]
            start = index + 1


def _block(tokens: "Sequence[Token]", width: int) -> list[Content]:
    first, inner = tokens[0], tokens[1:-1]
    match first.type:
        case "heading_open":
            return wrap(inline(inner[0]).stylize_before(HEADINGS.get(first.tag, "bold")), width)
        case "fence" | "code_block":
            return code(first.content, first.info.split()[0] if first.info.split() else "", width)
        case "bullet_list_open" | "ordered_list_open":
            return _list(first, inner, width)
        case "blockquote_open":
            return [styled("▎ ", "$secondary") + line.stylize_before("$hermes-dim") for line in _draw(inner, width - 2)]
        case "hr":
            return [styled("─" * min(width, 40), "$hermes-dim")]
        case "table_open":
            return table(inner, width)
        case "paragraph_open":
            return wrap(inline(inner[0]), width)
        case _:
            return wrap(Content(first.content), width)


def _list(opening: "Token", tokens: "Sequence[Token]", width: int) -> list[Content]:
    lines: list[Content] = []
    number = int(opening.attrs.get("start", 1) or 0) if opening.type == "ordered_list_open" else None
    for item in _groups(tokens):
        mark = "• " if number is None else f"{number}. "
        number = None if number is None else number + 1
        tight = any(token.hidden for token in item)
        drawn: list[Content] = []
        for group in _groups(item[1:-1]):
            if drawn and not tight:
                drawn.append(BLANK)
            drawn += _block(group, width - len(mark))
        head, *rest = drawn or [Content("")]
        lines += [styled(mark, "$primary") + head, *(Content(" " * len(mark)) + line for line in rest)]
    return lines


def code(text: str, language: str, width: int) -> list[Content]:
    """A block of code in its colours, on a ground of its own."""
    lines = text.rstrip("\n").expandtabs(4).split("\n")
    room = max(width - 2, 1)
    drawn: list[Content] = []
    for start in range(0, len(lines), CODE_PART):
        part = _coloured("\n".join(lines[start : start + CODE_PART]), language)
        drawn += [piece for line in part.split("\n", allow_blank=True) for piece in line.fold(room)]
    ground = "on $surface"
    return [
        (Content(" ") + cut(line, room) + " " * (room - min(line.cell_length, room) + 1)).stylize_before(ground)
        for line in drawn
    ]


@lru_cache(maxsize=64)
def _coloured(text: str, language: str) -> Content:
    if not language:
        return Content(text)
    from textual.highlight import highlight  # brings the lexers

    return highlight(text, language=language)
