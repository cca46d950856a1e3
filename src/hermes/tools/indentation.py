"""How lines are indented, and how to make new lines like the ones they join."""

from collections.abc import Sequence


def indent_of(line: str) -> str:
    return line[: len(line) - len(line.lstrip(" \t"))]


def dedented(lines: Sequence[str]) -> list[str]:
    """Without the indentation that all lines share."""
    indents = [indent_of(line) for line in lines if line.strip()]
    shared = min(map(len, indents), default=0)
    return [line[shared:].rstrip() if line.strip() else "" for line in lines]


def fitted(line: str, near: int, pairs: Sequence[tuple[str, str]]) -> str:
    """A new line as its neighbours truly are, when it was written like their quotes.

    `pairs` are lines as quoted and as the file has them; of two that disagree the one nearest to number `near` counts.
    The line gets their indentation and, where a file mixes line endings, their carriage return.
    """
    known: dict[str, str] = {}
    ending = ""
    for number in sorted(range(len(pairs)), key=lambda number: abs(number - near)):
        quoted, real = pairs[number]
        if quoted.strip() and real.strip():
            known.setdefault(indent_of(quoted), indent_of(real))
            ending = "\r" if real.endswith("\r") and not quoted.endswith("\r") else ending
    if not line.strip() or not known:
        return line + ending
    indent = indent_of(line)
    return _translated(indent, known) + line[len(indent) :] + ending


def _translated(indent: str, known: dict[str, str]) -> str:
    tab = _spaces_per_tab(known)
    nearest = max((quoted for quoted in known if indent.startswith(quoted)), key=len, default=None)
    if nearest is not None:
        rest = indent[len(nearest) :]
        return known[nearest] + (rest.replace(" " * tab, "\t") if tab else rest)
    quoted, real = min(known.items(), key=lambda pair: len(pair[0]))
    missing = quoted[len(indent) :]
    if real.endswith(missing):
        return real[: len(real) - len(missing)]
    return real[: len(real) * len(indent) // len(quoted)]


def _spaces_per_tab(known: dict[str, str]) -> int:
    """How many quoted spaces stand for one real tab; 0 if the quote does not write tabs as spaces."""
    if any("\t" in quoted for quoted in known) or not any("\t" in real for real in known.values()):
        return 0
    depths = sorted((real.count("\t"), len(quoted)) for quoted, real in known.items())
    (tabs, spaces), (more_tabs, more_spaces) = depths[0], depths[-1]
    if more_tabs > tabs and more_spaces > spaces:
        return (more_spaces - spaces) // (more_tabs - tabs) or 1
    return spaces // tabs if tabs and spaces >= 2 * tabs else 4
