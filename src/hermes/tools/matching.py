"""Finding a quoted piece of a file although the quote is not letter-perfect.

The strategies stand from the strictest to the loosest, and the first that finds anything decides. Each is a pure
function; those on lines give the numbers of the lines where the quote begins, those on text character spans.
"""

import re
from collections.abc import Callable, Sequence
from itertools import accumulate

from msgspec import Struct

from hermes.tools.indentation import dedented
from hermes.tools.text import count_lines

Span = tuple[int, int]
Lines = Sequence[str]

PLAIN = str.maketrans(
    "‘’‚‛′“”„‟″‐‑‒–—―−\u00a0\u2002\u2003\u2009\u200a\u202f\u3000", "'" * 5 + '"' * 5 + "-" * 7 + " " * 7
)
ALIKE = 0.8
ALIKE_BETWEEN_ANCHORS = 0.7
MOST_GUESSES = 20
LONGEST_GUESS = 200
LARGEST_GUESS = 20_000
COMPARED = 200
_ESCAPE = re.compile(r"""\\([nt"'\\])""")
_MEANT = {"n": "\n", "t": "\t"}


class Found(Struct, frozen=True):
    """Where a quote stands, and the name of the strategy that found it."""

    strategy: str
    spans: tuple[Span, ...]


def find(text: str, quote: str) -> Found | None:
    for name, strategy in STRATEGIES.items():
        if spans := strategy(text, quote):
            return Found(name, tuple(spans))
    return None


def windows(lines: Lines, quote: Lines, seen: Callable[[str], str]) -> list[int]:
    """Where the quote stands, when every line is looked at through `seen`; a quote of blank lines stands nowhere."""
    sought = [seen(line) for line in quote]
    if not any(sought):
        return []
    looked = [seen(line) for line in lines]
    return [
        start
        for start in range(len(looked) - len(sought) + 1)
        if looked[start] == sought[0] and looked[start : start + len(sought)] == sought
    ]


def same(lines: Lines, quote: Lines) -> list[int]:
    sought = list(quote)
    return [at for at in range(len(lines) - len(sought) + 1) if list(lines[at : at + len(sought)]) == sought]


def same_but_trailing_space(lines: Lines, quote: Lines) -> list[int]:
    return windows(lines, quote, str.rstrip)


def same_but_shared_indent(lines: Lines, quote: Lines) -> list[int]:
    wanted = dedented(quote)
    starts = windows(lines, quote, str.strip)
    return [start for start in starts if dedented(lines[start : start + len(quote)]) == wanted]


def same_but_indent(lines: Lines, quote: Lines) -> list[int]:
    return windows(lines, quote, str.strip)


def same_but_spacing(lines: Lines, quote: Lines) -> list[int]:
    return windows(lines, quote, lambda line: " ".join(line.split()))


def same_but_punctuation(lines: Lines, quote: Lines) -> list[int]:
    return windows(lines, quote, lambda line: " ".join(line.translate(PLAIN).split()))


LINE_STRATEGIES: dict[str, Callable[[Lines, Lines], list[int]]] = {
    "exact": same,
    "ignoring trailing space": same_but_trailing_space,
    "at another indentation": same_but_shared_indent,
    "ignoring indentation": same_but_indent,
    "ignoring spacing": same_but_spacing,
    "ignoring typographic punctuation": same_but_punctuation,
}


def exact(text: str, quote: str) -> list[Span]:
    """Every occurrence, also where two overlap: a quote that fits in two ways is not unique."""
    spans: list[Span] = []
    at = text.find(quote)
    while at >= 0:
        spans.append((at, at + len(quote)))
        at = text.find(quote, at + 1)
    return spans


def escaped(text: str, quote: str) -> list[Span]:
    """For a quote that was escaped once too often: backslash and n where the file has a newline."""
    plain = unescaped(quote)
    return exact(text, plain) if plain != quote else []


def punctuation(text: str, quote: str) -> list[Span]:
    """PLAIN maps one character to one, so spans in the translated text hold in the text."""
    return exact(text.translate(PLAIN), quote.translate(PLAIN)) or on_lines(same_but_punctuation)(text, quote)


def anchored(text: str, quote: str) -> list[Span]:
    """First and last line are there, at about the right distance, and what stands between is alike."""
    lines, wanted = text.split("\n"), quote.removesuffix("\n").split("\n")
    first, last = wanted[0].strip(), wanted[-1].strip()
    if not _guessable(lines, wanted) or not first or not last:
        return []
    looked = [line.strip() for line in lines]
    slack = max(1, len(wanted) // 4)
    blocks: list[tuple[int, int]] = []
    for start in (i for i, line in enumerate(looked) if line == first):
        counts = range(max(2, len(wanted) - slack), min(len(wanted) + slack, len(lines) - start) + 1)
        fits = [count for count in counts if looked[start + count - 1] == last]
        if fits:
            blocks.append((start, min(fits, key=lambda count: abs(count - len(wanted)))))
    if len(blocks) > MOST_GUESSES:
        return []
    return [
        span
        for start, count in blocks
        if _likeness(looked[start + 1 : start + count - 1], wanted[1:-1]) >= ALIKE_BETWEEN_ANCHORS
        for span in _spans(lines, [start], count, quote)
    ]


def similar(text: str, quote: str) -> list[Span]:
    """As many lines, at least half of them the same but for indentation, and all together much alike."""
    lines, wanted = text.split("\n"), quote.removesuffix("\n").split("\n")
    if not _guessable(lines, wanted):
        return []
    looked, sought = [line.strip() for line in lines], [line.strip() for line in wanted]
    count = len(sought)
    starts = [
        start
        for start in range(len(looked) - count + 1)
        if 2 * sum(map(str.__eq__, looked[start : start + count], sought)) >= count
    ]
    if len(starts) > MOST_GUESSES:
        return []
    starts = [start for start in starts if _likeness(looked[start : start + count], sought) >= ALIKE]
    return _spans(lines, starts, count, quote)


def on_lines(strategy: Callable[[Lines, Lines], list[int]]) -> Callable[[str, str], list[Span]]:
    """The strategy on text; a quote that ends in a newline takes the newline of its last line with it."""

    def spans(text: str, quote: str) -> list[Span]:
        lines, wanted = text.split("\n"), quote.removesuffix("\n").split("\n")
        return _spans(lines, strategy(lines, wanted), len(wanted), quote)

    return spans


STRATEGIES: dict[str, Callable[[str, str], list[Span]]] = {
    "exact": exact,
    "ignoring trailing space": on_lines(same_but_trailing_space),
    "at another indentation": on_lines(same_but_shared_indent),
    "ignoring indentation": on_lines(same_but_indent),
    "ignoring spacing": on_lines(same_but_spacing),
    "unescaped": escaped,
    "ignoring typographic punctuation": punctuation,
    "by its first and last line": anchored,
    "by likeness": similar,
}


def unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda match: _MEANT.get(match[1], match[1]), text)


def line_at(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1


def nearest_lines(text: str, quote: str, context: int = 2) -> str:
    """The lines of the file that look most like the quote, numbered as read_file shows them; empty if none does."""
    from difflib import get_close_matches

    lines = text.split("\n")[: min(count_lines(text), LARGEST_GUESS)]
    by_content = {line.strip(): number for number, line in reversed(list(enumerate(lines))) if line.strip()}
    for line in sorted((line.strip() for line in quote.split("\n")), key=len, reverse=True)[:3]:
        close = get_close_matches(line, by_content, n=1, cutoff=0.6)
        if close:
            at = by_content[close[0]]
            shown = range(max(0, at - context), min(len(lines), at + context + 1))
            return "\n".join(f"{number + 1}|{lines[number][:300]}" for number in shown)
    return ""


def _spans(lines: Lines, starts: Sequence[int], count: int, quote: str) -> list[Span]:
    """Character spans of runs of `count` lines."""
    if not starts:
        return []
    offsets = [0, *accumulate(len(line) + 1 for line in lines)]
    newline = quote.endswith("\n")
    return [(offsets[i], offsets[i + count] - (0 if newline and i + count < len(lines) else 1)) for i in starts]


def _guessable(lines: Lines, quote: Lines) -> bool:
    """Whether a guess can be good, and is cheap enough to be made while everybody waits."""
    return 3 <= len(quote) <= LONGEST_GUESS and len(lines) <= LARGEST_GUESS


def _likeness(lines: Lines, quote: Lines) -> float:
    """From 0 to 1: the part of all characters that stand in the same lines, or alike in lines opposite each other."""
    from difflib import SequenceMatcher

    ours, theirs = [line.strip()[:COMPARED] for line in lines], [line.strip()[:COMPARED] for line in quote]
    total = sum(map(len, ours)) + sum(map(len, theirs))
    alike = 0.0
    for kind, a, b, c, d in SequenceMatcher(None, ours, theirs, autojunk=False).get_opcodes():
        for our, their in zip(ours[a:b], theirs[c:d], strict=False):
            ratio = 1.0 if kind == "equal" else SequenceMatcher(None, our, their, autojunk=False).ratio()
            alike += ratio * (len(our) + len(their))
    return alike / total if total else 1.0
