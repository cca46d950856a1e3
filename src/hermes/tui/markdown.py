"""Markdown as lines of styled text. Of a text that grows only the end is drawn again: some lines of its last block."""

from collections.abc import Iterator, Sequence
from functools import cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from textual.content import Content

from hermes.tui.code import code, code_parts, drawn
from hermes.tui.flow import Flow, next_cut
from hermes.tui.inline import inline
from hermes.tui.tables import columns, table
from hermes.tui.wrapping import BLANK, styled, wrap

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

WORD = "x"
"""Stands in the place of the beginning of a paragraph: whatever follows a word goes on with it."""
PART = 1_000
"""Characters after which the next item of a list begins a new part, and twice as many for a row of a table. What follows a
part does not change it."""
LONGEST_BLOCK = 15_000
"""Characters after which anything else that does not end may be cut, a single item of a list too."""
HEADINGS = {"h1": "bold underline $primary", "h2": "bold $primary", "h3": "bold $secondary"}


class Markdown:
    """A text that may grow, and its lines at the width that was last asked for.

    Once the beginning of the last block is settled, `_lead` stands in its place when the rest is parsed, and `_flow` has its
    open line if it is a paragraph. Of a list `_items` counts those that are settled, of a table `_columns` has their widths.
    """

    def __init__(self, text: str = "") -> None:
        self.text = text
        self._begin(0)

    def _begin(self, width: int) -> None:
        self._width = width
        self._before = ""
        self._settled = 0
        self._start_block()
        self._lines: list[Content] = []

    def _start_block(self) -> None:
        self._lead = ""
        self._flow: Flow | None = None
        self._goes_on = False
        self._items = 0
        self._columns: list[int] = []

    def lines(self, width: int) -> list[Content]:
        if width != self._width or not self.text.startswith(self._before):
            self._begin(width)
        self._before = self.text
        rest = self._take()
        return self._lines + rest

    def _take(self) -> list[Content]:
        """Keep the lines of the blocks that are finished; gives those of the last one that are not."""
        source = self._lead + self.text[self._settled :]
        blocks = _blocks(source)
        start, last = blocks[-1]
        if len(blocks) > 1:
            self._settled += start - len(self._lead)
        for (begin, tokens), (end, _) in pairwise(blocks):
            begin += len(self._lead)
            if settled := self._settle_parts(tokens, source[begin:end]):
                tokens = _parser().parse(self._lead + source[begin + settled : end])
            self._lines += self._block(tokens)
            self._start_block()
        return self._last(last) if last else []

    def _last(self, tokens: "list[Token]") -> list[Content]:
        """Keep the lines of the last block that are finished, and give the others."""
        source = self.text[self._settled :]
        if self._flow is not None or tokens[0].type == "paragraph_open":
            length, lines = self._paragraph(tokens)
            if length and not self._lead:
                self._lead = WORD
                self._settled += len(source) - len(source.lstrip())
            self._settled += length
            return lines
        if tokens[0].type == "fence" and (self._lead or source.startswith(tokens[0].markup)):
            self._settle_code(tokens[0], source)
        elif settled := self._settle_parts(tokens, source) or self._cut_off(tokens, source):
            self._settled += settled
            return self._take()
        return self._block(tokens)

    def _block(self, tokens: "list[Token]") -> list[Content]:
        """The lines of a block, or of the end of one whose beginning is settled."""
        if self._flow is not None or tokens[0].type == "paragraph_open":
            return self._paragraph(tokens)[1]
        if tokens[0].type == "table_open":
            return self._apart(table(tokens[1:-1], self._width, self._columns))
        if self._lead and not tokens[0].content:
            return []
        if self._items:
            tokens[0].attrs["start"] = self._items + 1
        return self._apart(_draw(tokens, self._width))

    def _settle_parts(self, tokens: "list[Token]", source: str) -> int:
        """Keep the parts of a list or a table that are finished; gives their length."""
        kind, settled = tokens[0].type, 0
        if self._flow is not None or kind not in NEXT_PART:
            return 0
        while cut := NEXT_PART[kind](source[settled:]):
            part = _parser().parse(self._lead + source[settled : settled + cut])
            self._lines += self._block(part)
            if kind == "table_open":
                self._lead = self._lead or _head(source)
                self._columns = columns(part, self._width, self._columns)
            self._goes_on = True
            self._items = _number(part[0]) - 1 + sum(map(_is_item, part))
            settled += cut
        return settled

    def _cut_off(self, tokens: "list[Token]", source: str) -> int:
        """Keep the beginning of a block that does not end, and begin anew with the rest; gives its length."""
        if len(source) < 2 * LONGEST_BLOCK or tokens[0].type == "fence":
            return 0
        ends = (source.find(end, LONGEST_BLOCK, 2 * LONGEST_BLOCK) for end in "\n ")
        length = next((end + 1 for end in ends if end > 0), LONGEST_BLOCK)
        self._lines += self._block(_parser().parse(self._lead + source[:length]))
        self._start_block()
        self._goes_on = True
        return length

    def _settle_code(self, token: "Token", source: str) -> None:
        """Keep the parts of a block of code that are finished; the token has what follows them."""
        *finished, _ = code_parts(token.content, self._width)
        for part in finished:
            self._lines += self._apart(drawn(part, _language(token), self._width))
            if not self._lead:
                self._lead = source[: source.index("\n") + 1]
                self._settled += len(self._lead)
            self._settled += part.length
            token.content = token.content[part.length :]

    def _paragraph(self, tokens: "list[Token]") -> tuple[int, list[Content]]:
        """Parse and wrap it in pieces. What turns out to be a heading or a table when it has begun goes on as a paragraph."""
        source = " | ".join(token.content for token in tokens if token.type == "inline")[len(self._lead) :]
        rest = source
        while cut := next_cut(rest):
            if self._flow is None:
                self._flow = Flow(self._width)
                self._lines += self._apart([])
            self._lines += self._flow.add(_words(rest[:cut]))
            rest = rest[cut:]
        if self._flow is None:
            return 0, self._apart(wrap(inline(tokens[1]), self._width))
        return len(source) - len(rest), self._flow.with_rest(_words(rest))

    def _apart(self, lines: list[Content]) -> list[Content]:
        """With an empty line before them, unless they come first."""
        return [BLANK, *lines] if self._lines and not (self._lead or self._goes_on) else lines


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


def _next_item(text: str) -> int:
    """Where the next part of a list begins; 0 if there is none. A line that is not whole yet may become anything."""
    for reach in (4 * PART, 2 * LONGEST_BLOCK):
        near = text[:reach]
        whole = near.rfind("\n") + 1
        if whole <= PART:
            continue
        at = [0, *accumulate(len(line) + 1 for line in near.split("\n"))]
        starts = (at[token.map[0]] for token in _parser().parse(near) if token.map and _is_item(token))
        if found := next((start for start in starts if PART <= start < min(whole, LONGEST_BLOCK)), 0):
            return found
        if near == text:
            break
    return 0


def _next_row(text: str) -> int:
    """Where the next part of a table begins; 0 if there is none."""
    return text.find("\n", 2 * PART) + 1


NEXT_PART = {"bullet_list_open": _next_item, "ordered_list_open": _next_item, "table_open": _next_row}


def _head(table: str) -> str:
    """The line of names of a table and the one below it."""
    names, rule, *_ = table.lstrip().split("\n", 2)
    return f"{names}\n{rule}\n"


def _is_item(token: "Token") -> bool:
    """Whether an item of an outermost list begins here."""
    return token.type == "list_item_open" and token.level == 1


def _number(opening: "Token") -> int:
    """The number of the first item of a list."""
    return int(opening.attrs.get("start", 1))


def _words(text: str) -> Content:
    """A piece of a paragraph."""
    return inline(_parser().parseInline(text)[0])


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
            return code(first.content, _language(first), width)
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
    number = _number(opening) if opening.type == "ordered_list_open" else None
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


def _language(token: "Token") -> str:
    return next(iter(token.info.split()), "")
