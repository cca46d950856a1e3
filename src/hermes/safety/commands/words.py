"""What the shell makes of a word: quotes taken off, variables put in, braces and `~` expanded, as far as the text tells.

What only the running shell can know (the output of a program, a variable of the environment) becomes the mark UNKNOWN.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import product
from typing import TYPE_CHECKING

from hermes.safety.commands.argv import braces, listed
from hermes.safety.commands.syntax import GAP, QUOTED, SECRET, SECRET_NAME, UNKNOWN, UNQUOTED, text_in, text_of, tree
from hermes.safety.patterns import Pattern

if TYPE_CHECKING:
    from tree_sitter import Node

MOST_WORDS = 64

# What may stand where a statement could, as the words of a `case` do.
VALUES = listed(
    "variable_name subscript word number string raw_string simple_expansion expansion concatenation extglob_pattern "
    "regex ansi_c_string brace_expression arithmetic_expansion special_variable_name test_operator binary_expression "
    "unary_expression postfix_expression parenthesized_expression ternary_expression command_substitution"
)

_QUOTES = frozenset({"string", "raw_string", "ansi_c_string", "translated_string"})
_ESCAPED = Pattern(r"\\(.)", re.DOTALL)
_ESCAPED_IN_QUOTES = Pattern(r'\\([$`"\\\n])')
_ANSI_C = Pattern(r"\\(x[0-9a-fA-F]{1,2}|u[0-9a-fA-F]{1,4}|U[0-9a-fA-F]{1,8}|[0-7]{1,3}|c.|.)", re.DOTALL)
_ANSI_C_LETTERS = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "a": "\a",
    "b": "\b",
    "e": "\x1b",
    "E": "\x1b",
    "f": "\f",
    "v": "\v",
}
_PARAMETER = Pattern(
    r"\$\{(?P<hides>[!#](?=\w))?(?P<name>\w+|[@*#?$!-])(?P<index>\[[^\]]*\])?"
    r"(?P<operator>:?[-=?+]|##?|%%?|//?|\^\^?|,,?|:|@)?(?P<rest>.*)\}",
    re.DOTALL,
)
_BACKTICKS = Pattern(r"(?<!\\)`((?:[^`\\]|\\.)*)`", re.DOTALL)
_RANGE = Pattern(r"\{(-?\d+|[a-zA-Z])\.\.(-?\d+|[a-zA-Z])\}")


class Words:
    """Expands words with the variables set so far.

    `run` walks a substitution and tells what it prints, if known; `puzzle` is told what cannot be followed.
    """

    def __init__(
        self,
        user_home: str,
        variables: dict[str, str],
        run: Callable[["Node"], str | None],
        puzzle: Callable[[str], None],
    ) -> None:
        self._user_home = user_home
        self._run = run
        self._puzzle = puzzle
        self.variables: dict[str, tuple[str, ...]] = {name: (value,) for name, value in variables.items()}

    def set(self, name: str, values: Iterable[str], *, only: bool = False) -> None:
        """Remember a value; earlier ones stay possible, since nobody knows which assignment will have run."""
        before = () if only else self.variables.get(name, ())
        self.variables[name] = tuple(dict.fromkeys([*before, *values]))[-MOST_WORDS:]

    def set_positions(self, words: list[str]) -> None:
        """Set $1, $2 and so on, and $@."""
        for name, values in (("@", words), ("*", words), *((str(at), [word]) for at, word in enumerate(words, 1))):
            self.set(name, values, only=True)

    @contextmanager
    def positions(self, words: list[str] | None) -> Iterator[None]:
        """Set them for a while, as for a shell in the shell; None leaves them as they are."""
        before = self.variables
        if words is not None:
            self.variables = {name: value for name, value in before.items() if not name.isdecimal()}
            self.set_positions(words)
        yield
        self.variables = before

    def expand(self, node: "Node") -> list[str]:
        """The words that one word of the command becomes."""
        if node.type == "command_name" and node.child_count == 1:
            return self.expand(node.children[0])
        texts = self._texts(node)
        if texts == [""] and not _is_quoted(node):
            return []
        if node.type in ("word", "concatenation", "brace_expression") and texts[0].startswith("~"):
            texts = [self._at_home(text) for text in texts]
        words: list[str] = []
        for text in texts:
            for each in braces(text):
                pieces = each.split(GAP)
                words += [piece for piece in pieces if piece] if len(pieces) > 1 else pieces
        return [word.translate(UNQUOTED) for word in words[:MOST_WORDS]]

    def single(self, node: "Node") -> list[str]:
        """The values that a word may have where the shell does not split it, as in an assignment."""
        texts = [text.replace(GAP, " ").translate(UNQUOTED) for text in self._texts(node)]
        return [self._at_home(text) if node.type in ("word", "concatenation") else text for text in texts]

    def lookup(self, name: str) -> tuple[str, ...]:
        if name in self.variables:
            return self.variables[name]
        if (name.isdecimal() and name != "0") or name in "@*":
            return ("",)
        return (UNKNOWN + SECRET,) if SECRET_NAME.fullmatch(name) else (UNKNOWN,)

    # Nodes

    def _texts(self, node: "Node") -> list[str]:
        match node.type:
            case "string" | "translated_string":
                return self._joined([self._in_quotes(child) for child in _with_gaps(node)])
            case "raw_string":
                return [text_of(node)[1:-1].translate(QUOTED)]
            case "ansi_c_string":
                return [_ANSI_C.sub(_ansi_c, text_of(node)[2:-1]).translate(QUOTED)]
            case "concatenation" | "command_name" if node.children:
                return self._joined([self._texts(child) for child in node.children])
            case "brace_expression":
                return _range(text_of(node))
            case "simple_expansion" | "expansion" | "command_substitution" | "arithmetic_expansion":
                return [re.sub(r"\s+", GAP, text) for text in self._expansion(node)]
            case "process_substitution":
                self._run(node)
                return [f"/dev/fd/{UNKNOWN}"]
            case _:
                self.run_inside(node)
                return [_ESCAPED.sub(_unescaped, text_of(node))]

    def _in_quotes(self, node: "Node | str") -> list[str]:
        if isinstance(node, str):
            return [_ESCAPED_IN_QUOTES.sub(_unescaped, node).translate(QUOTED)]
        if node.type in ("simple_expansion", "expansion", "command_substitution", "arithmetic_expansion"):
            return [text.translate(QUOTED) for text in self._expansion(node)]
        return self._texts(node)

    def _expansion(self, node: "Node") -> list[str]:
        match node.type:
            case "command_substitution":
                said = self._run(node)
                return [UNKNOWN if said is None else said.rstrip("\n")]
            case "simple_expansion":
                return list(self.lookup(text_of(node).strip().removeprefix("$")))
            case "expansion":
                self.run_inside(node)
                return self._parameter(text_of(node).strip())
            case _:
                self.run_inside(node)
                return [UNKNOWN]

    def run_inside(self, node: "Node") -> None:
        """Walk the substitutions in a node whose value nobody can tell."""
        for child in node.children:
            if child.type in ("command_substitution", "process_substitution"):
                self._run(child)
            elif child.child_count:
                self.run_inside(child)
            elif child.is_named and child.type != "raw_string":
                self.run_backticks(text_of(child))

    def run_backticks(self, text: str) -> None:
        """Walk what stands between backticks, which the grammar takes for text where it does not expect them."""
        for found in _BACKTICKS.finditer(text):
            self._run(tree(found[1].replace("\\`", "`")))

    def _parameter(self, text: str) -> list[str]:
        found = _PARAMETER.fullmatch(text)
        if not found or found["hides"] or found["index"] not in (None, "[@]", "[*]"):
            return [UNKNOWN]
        rest = found["rest"]
        values = self.lookup(found["name"])
        match found["operator"]:
            case None:
                return list(values)
            case "@" if "P" in rest:
                self._puzzle("the shell would run what stands in a variable")
                return [UNKNOWN]
            case ":?" | "?":
                return list(values)
            case ":-" | "-" | ":=" | "=" if "$" in rest or "`" in rest:
                return [value or UNKNOWN for value in values]
            case ":-" | "-" | ":=" | "=":
                return list(dict.fromkeys(word for value in values for word in _default(value, rest.strip("'\""))))
            case operator:
                return [_edited(value, str(operator), rest) for value in values]

    @staticmethod
    def _joined(parts: list[list[str]]) -> list[str]:
        return ["".join(each) for each, _ in zip(product(*parts), range(MOST_WORDS), strict=False)] or [""]

    def _at_home(self, text: str) -> str:
        if not text.startswith("~"):
            return text
        name, slash, rest = text.partition("/")
        return (self._user_home if name == "~" else f"/home/{name[1:]}") + slash + rest


def _is_quoted(node: "Node") -> bool:
    """Whether a word stays a word even when there is nothing in it."""
    return node.type in _QUOTES or any(child.type in _QUOTES for child in node.children)


def _with_gaps(node: "Node") -> "list[Node | str]":
    """The parts of a quoted text; the grammar leaves blanks between them to no node, or to the next one."""
    whole = node.text or b""
    parts: list[Node | str] = []
    at = node.start_byte + 1
    for child in node.named_children:
        if child.type == "string":
            return [child]
        if child.type == "string_content":
            continue
        begin = child.end_byte - len((child.text or b"").lstrip())
        parts += [text_in(whole[at - node.start_byte : begin - node.start_byte]), child]
        at = child.end_byte
    parts.append(text_in(whole[at - node.start_byte : len(whole) - 1]))
    return parts


def _unescaped(found: re.Match[str]) -> str:
    return "" if found[1] == "\n" else found[1].translate(QUOTED)


def _ansi_c(found: re.Match[str]) -> str:
    code = found[1]
    if code[0] in "xuU" and len(code) > 1:
        number = int(code[1:], 16)
        return chr(number) if number < 0x110000 else UNKNOWN
    if code[0] in "01234567":
        return chr(int(code, 8) & 0xFF)
    if code[0] == "c" and len(code) > 1:
        return chr(ord(code[1]) & 0x1F)
    return _ANSI_C_LETTERS.get(code, code)


def _range(text: str) -> list[str]:
    found = _RANGE.fullmatch(text)
    if not found:
        return [text]
    first, last = found[1], found[2]
    if first.lstrip("-").isdecimal() and last.lstrip("-").isdecimal():
        low, high = sorted((int(first), int(last)))
        return [str(number) for number in range(low, min(high, low + MOST_WORDS) + 1)]
    low, high = sorted((ord(first[0]), ord(last[0])))
    return [chr(number) for number in range(low, min(high, low + MOST_WORDS) + 1)]


def _default(value: str, default: str) -> list[str]:
    return [default, value] if UNKNOWN in value else [value or default]


def _edited(value: str, operator: str, rest: str) -> str:
    """A variable's value after `${name%...}` and its like, where that is easy to tell."""
    if UNKNOWN in value or "$" in rest or "`" in rest:
        return UNKNOWN
    if operator == ":" and (found := re.fullmatch(r"\s*(\d+)(?::(\d+))?", rest)):
        start = int(found[1])
        return value[start : start + int(found[2])] if found[2] else value[start:]
    if operator in ("%", "%%", "#", "##") and not re.search(r"[*?\[\\]", rest):
        return value.removesuffix(rest) if operator[0] == "%" else value.removeprefix(rest)
    if operator == "%" and rest == ".*":
        return value.rpartition(".")[0] or value
    if operator == "##" and rest == "*/":
        return value.rpartition("/")[2]
    if operator in ("/", "//") and not re.search(r"[*?\[\\]", rest):
        old, _, new = rest.partition("/")
        return value.replace(old, new, 1 if operator == "/" else -1) if old else value
    return {"^^": value.upper(), ",,": value.lower()}.get(operator, UNKNOWN) if not rest else UNKNOWN
