"""Shell text as a tree, made with tree-sitter's grammar of bash, and the text itself without its disguises."""

import re
from functools import cache
from typing import TYPE_CHECKING

from hermes.safety.commands.argv import listed
from hermes.safety.patterns import Pattern

if TYPE_CHECKING:
    from tree_sitter import Node, Parser

LONGEST = 50_000
# The time to parse grows with the square of the number of operators, so there is a limit to them too.
MOST_OPERATORS = 2500
READABLE_START = 2000

# Stands in a word for what only the running shell will know.
UNKNOWN = "\ufffc"
# Stands behind it where the value is a key or a password, by the name of the variable.
SECRET = "\ue004"
SECRET_NAME = Pattern(
    r"([A-Z0-9]+_)*(SECRETS?|TOKEN|PASSWORD|PASSWD|PASSPHRASE|APIKEY|CREDENTIALS?|(API|ACCESS|PRIVATE|SECRET)_?KEY)(_[A-Z0-9]+)*|"
    r"[A-Z0-9]\w*_(PASS|PWD)"
)
# In the index of an array the shell runs even what was quoted.
RUNS_CODE_IN_INDEX = Pattern(r"\[[^\]]*(\$\(|`)")
# Private marks used while words are put together: a gap between words, and braces and commas that were quoted.
GAP = "\ue000"
QUOTED = str.maketrans("{,}", "\ue001\ue002\ue003")
UNQUOTED = str.maketrans("\ue001\ue002\ue003", "{,}")

# The grammar's own scanner reads memory that is not its own for characters beyond Latin-1, and can bring the process down.
# So these are written in Latin-1 letters while they are parsed: an opening one, then six that stand for hexadecimal digits.
_BEYOND = Pattern(r"[^\x00-\xfe]")
_NOT_ASCII = Pattern(r"[^\x00-\x7f]")
_SPELLED = Pattern("\xff([\xe0-\xef]{6})")
_TO_LETTERS = {ord(digit): 0xE0 + at for at, digit in enumerate("0123456789abcdef")}
_FROM_LETTERS = {letter: digit for digit, letter in _TO_LETTERS.items()}

_PLAIN = Pattern(r"[A-Za-z0-9_./:@%+,= \t-]+")
_GRAMMAR = listed(
    "if then else elif fi case esac for select while until do done in function time coproc declare typeset export readonly local "
    "unset let"
)

_OPERATOR = Pattern(r"[|&;(){}<>$`]")
_ESCAPES = Pattern(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-_]")
_OWN_MARKS = Pattern(f"[{UNKNOWN}{GAP}\ue001-\ue003]")
_UNSEEN = Pattern(r"[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff\ud800-\udfff]")
# These change the order in which a text is shown, end it, or are keys that change a line while it is typed: what a person
# reads is not what runs. (Ctrl-C and Ctrl-D only end something.)
_DECEIVES = Pattern(r"[\x00-\x02\x05-\x08\x0e-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def normalise(text: str) -> str:
    """The text without terminal escapes, characters nobody sees, and look-alikes of plain letters."""
    if _is_plain(text):
        return text
    import unicodedata

    return unicodedata.normalize("NFKC", _UNSEEN.sub("", _ESCAPES.sub("", text)))


def without_marks(text: str) -> str:
    """The text without characters that mean something of our own here."""
    return text if text.isascii() else _OWN_MARKS.sub("", text)


def deceives(text: str) -> bool:
    """Whether a text holds characters that make it look different from what it is, or our own private marks."""
    return not _is_plain(text) and bool(_DECEIVES.search(text) or _OWN_MARKS.search(text))


def _is_plain(text: str) -> bool:
    """Whether a text is one line of ASCII that can be seen: it has nothing that the patterns look for, which take long to be made."""
    return text.isascii() and text.isprintable()


def is_readable(text: str) -> bool:
    """Whether a text is short and simple enough to be parsed in no time."""
    return len(text) <= MOST_OPERATORS or (len(text) <= LONGEST and len(_OPERATOR.findall(text)) <= MOST_OPERATORS)


def plain_words(text: str) -> list[str]:
    """The words of a text that has no sign in it that a shell would read as more than a letter; none if there may be one."""
    words = text.split() if _PLAIN.fullmatch(text) else []
    return [] if not words or "=" in words[0] or words[0] in _GRAMMAR else words


def tree(text: str) -> "Node":
    """The tree of a shell text; what the grammar does not understand is a node of type ERROR in it."""
    text = text.encode("utf-8", "replace").decode()
    if _BEYOND.search(text):
        text = _NOT_ASCII.sub(_spelled, text)
    return _parser().parse(text.encode()).root_node


def text_of(node: "Node") -> str:
    return text_in(node.text or b"")


def text_in(piece: bytes) -> str:
    """The text that a piece of what was parsed stands for."""
    return _SPELLED.sub(_unspelled, piece.decode("utf-8", "replace"))


def _spelled(found: re.Match[str]) -> str:
    return "\xff" + f"{ord(found[0]):06x}".translate(_TO_LETTERS)


def _unspelled(found: re.Match[str]) -> str:
    return chr(int(found[1].translate(_FROM_LETTERS), 16))


@cache
def _parser() -> "Parser":
    # 40 ms of import, so only once there is something to parse.
    import tree_sitter
    import tree_sitter_bash

    return tree_sitter.Parser(tree_sitter.Language(tree_sitter_bash.language()))
