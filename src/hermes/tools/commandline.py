"""Just enough of the shell's grammar to see which commands a line runs, and whether it leaves one running.

It is advice for the model, not a boundary: the gate judges commands, and the terminal ends what is left over.
"""

from collections.abc import Iterator
from posixpath import basename

from msgspec import Struct

DETACHING = ("nohup", "setsid", "disown")
PREFIXES = ("sudo", "env", "exec", "time", "if", "then", "do", "else", "elif", "while", "until", "!", "{")
OPERATORS = ("&&", "||", "|&", ";;", ";&", "&", ";", "|", "(", ")", "`", "\n")


class Simple(Struct, frozen=True):
    """A simple command: its first word that is no prefix, and the operator that ends it."""

    name: str
    operator: str


def simple_commands(line: str) -> list[Simple]:
    """The simple commands of a line in their order; quoted text, comments and here-documents are skipped."""
    found: list[Simple] = []
    words: list[str] = []
    for token in [*_Scanner(line).tokens(), (True, "")]:
        match token:
            case False, word:
                words.append(word)
            case _, operator if words:
                found.append(Simple(_name(words), operator))
                words = []
    return found


def detaching(line: str) -> str:
    """The word or sign by which a line leaves something running; empty if it waits for all that it starts."""
    if "&" not in line and not any(name in line for name in DETACHING):
        return ""
    commands = simple_commands(line)
    for place, command in enumerate(commands):
        if command.name in DETACHING:
            return command.name
        if command.operator == "&" and all(later.name != "wait" for later in commands[place + 1 :]):
            return "&"
    return ""


def _name(words: list[str]) -> str:
    """The program: behind words like sudo, options and assignments."""
    for word in words:
        variable, assigned, _ = word.partition("=")
        if word not in PREFIXES and word[:1] != "-" and not (assigned and variable.isidentifier()):
            return basename(word)
    return words[-1]


class _Scanner:
    """Reads a line once and gives its tokens: (True, operator) or (False, word without its quotes)."""

    def __init__(self, line: str) -> None:
        self._line = line
        self._at = 0
        self._documents: list[tuple[str, bool]] = []

    def tokens(self) -> Iterator[tuple[bool, str]]:
        while self._at < len(self._line):
            if self._line[self._at] in " \t\r":
                self._at += 1
            elif self._line[self._at] == "#":
                self._at = self._line_end(self._at)
            elif self._line.startswith("((", self._at):
                self._skip_behind("))")
            elif operator := self._operator():
                self._at += len(operator)
                if operator == "\n":
                    self._skip_documents()
                yield True, operator
            else:
                yield False, self._word()

    def _operator(self) -> str:
        """The operator that stands here; in `>&`, `<&` and `&>` there is none."""
        if self._line[self._at] == "&" and self._at and self._line[self._at - 1] in "<>":
            return ""
        if self._line.startswith("&>", self._at):
            return ""
        return next((sign for sign in OPERATORS if self._line.startswith(sign, self._at)), "")

    def _word(self) -> str:
        begin, word = self._at, ""
        while self._at < len(self._line) and self._line[self._at] not in " \t\r":
            sign = self._line[self._at]
            if self._at > begin and self._operator():
                break
            if self._line.startswith("<<", self._at) and not self._line.startswith("<<<", self._at):
                self._announce_document()
            elif sign == "\\":
                word += self._line[self._at + 1 : self._at + 2].strip("\n")
                self._at += 2
            elif sign in "'\"":
                word += self._quoted(sign)
            elif self._line.startswith("$((", self._at):
                self._skip_behind("))")
            else:
                word += sign
                self._at += 1
        return word

    def _quoted(self, quote: str) -> str:
        begin = self._at = self._at + 1
        while self._at < len(self._line) and self._line[self._at] != quote:
            self._at += 2 if quote == '"' and self._line[self._at] == "\\" else 1
        self._at += 1
        return self._line[begin : self._at - 1]

    def _announce_document(self) -> None:
        """Remember the word that ends a here-document, and whether tabs may stand before it."""
        self._at += 2
        tabs = self._line.startswith("-", self._at)
        self._at += tabs
        while self._line.startswith((" ", "\t"), self._at):
            self._at += 1
        self._documents.append((self._word(), tabs))

    def _skip_documents(self) -> None:
        """From the line behind the announcements to the line behind the last document."""
        for word, tabs in self._documents:
            while self._at < len(self._line):
                end = self._line_end(self._at)
                text = self._line[self._at : end]
                self._at = end + 1
                if (text.lstrip("\t") if tabs else text) == word:
                    break
        self._documents.clear()

    def _line_end(self, at: int) -> int:
        end = self._line.find("\n", at)
        return len(self._line) if end < 0 else end

    def _skip_behind(self, sign: str) -> None:
        end = self._line.find(sign, self._at)
        self._at = len(self._line) if end < 0 else end + len(sign)
