"""Read a shell command into the simple commands that it is made of.

The reader knows words, quotes, redirections and `&& || ; |`. A command made of nothing else is plain, and what its words
say is what will run. Anything more (a substitution, a variable, a subshell, `&`) makes it not plain: the words are then a
best guess, good enough to spot a disaster, never good enough to call the command harmless.
"""

import re
from typing import Literal

from msgspec import Struct

DEEPEST = 8
LONGEST = 10_000

Flow = Literal["", "then", "pipe"]

_ORDINARY = re.compile(r"[^ \t\n'\"\\$`;&|()<>{}*?\[~#]+")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*(\[[^\]]*\])?\+?=")
_OPERATOR = re.compile(r"&>>|&>|<<<|<<-|<<|<>|>>|>\||>&|<&|&&|\|\||\|&|;;|[;&|()<>]")
_VARIABLE = re.compile(r"\{[^}]*\}|\w+|[@*#?$!\[-]")
_REDIRECTIONS = frozenset({">", ">>", ">|", ">&", "<", "<>", "<&", "<<<", "<<", "<<-", "&>", "&>>"})
_SKIPPED = re.compile(r"""\\.|'[^']*'|"(?:[^"\\]|\\.)*"|[^\\'"()]+""", re.DOTALL)
UNSEEN = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff\ud800-\udfff]")


class Word(Struct, frozen=True, omit_defaults=True):
    """A word without its quotes; the flags say what the shell will still do to it."""

    text: str
    globs: bool = False
    tilde: bool = False
    expands: bool = False


class Redirect(Struct, frozen=True):
    operator: str
    target: Word
    fd: str = ""


class Simple(Struct, frozen=True, omit_defaults=True):
    """One program with its arguments. `flow` says how it follows the one before; `body` is its here-document."""

    words: tuple[Word, ...]
    redirects: tuple[Redirect, ...] = ()
    assignments: tuple[Word, ...] = ()
    flow: Flow = ""
    body: str = ""

    @property
    def argv(self) -> tuple[str, ...]:
        return tuple(word.text for word in self.words)


class Script(Struct, frozen=True):
    """The simple commands in order, those inside substitutions included; plain if nothing was left to guess."""

    commands: tuple[Simple, ...]
    plain: bool


def read(text: str) -> Script:
    """Take a shell command apart; never fails, but what it does not understand is not plain."""
    reader = _Reader(text, 0)
    commands = reader.read()
    plain = reader.plain and len(text) <= LONGEST and not UNSEEN.search(text)
    return Script(commands, plain)


class _Draft:
    """A simple command while it is read."""

    def __init__(self, flow: Flow) -> None:
        self.flow: Flow = flow
        self.words: list[Word] = []
        self.redirects: list[Redirect] = []
        self.assignments: list[Word] = []
        self.body = ""

    def done(self) -> Simple:
        return Simple(tuple(self.words), tuple(self.redirects), tuple(self.assignments), self.flow, self.body)

    def __bool__(self) -> bool:
        return bool(self.words or self.redirects or self.assignments)


class _Reader:
    def __init__(self, text: str, depth: int) -> None:
        self.text = text
        self.depth = depth
        self.at = 0
        self.plain = True
        self.drafts: list[_Draft] = []
        self.inner: list[Simple] = []
        self.draft = _Draft("")
        self.heredocs: list[tuple[_Draft, str]] = []
        self.redirect: tuple[str, str] | None = None
        self._fresh()

    def _fresh(self) -> None:
        self.part: list[str] = []
        self.begun = self.quoted = self.globs = self.tilde = self.expands = False

    def read(self) -> tuple[Simple, ...]:
        while self.at < len(self.text):
            self._step()
        self._end_command("")
        if self.heredocs:
            self.plain = False
        return (*(draft.done() for draft in self.drafts), *self.inner)

    def _step(self) -> None:
        char = self.text[self.at]
        if run := _ORDINARY.match(self.text, self.at):
            self._add(run.group())
            self.at = run.end()
        elif char == "\n":
            self.at += 1
            self._end_command("then")
            self._read_bodies()
        elif char in " \t":
            self.at += 1
            self._end_word()
        elif char == "#" and not self.begun:
            end = self.text.find("\n", self.at)
            self.at = len(self.text) if end < 0 else end
        elif char in "'\"\\$`":
            self._quoted(char)
        elif char in ";&|()<>":
            self._operator()
        else:
            self._special(char)

    def _special(self, char: str) -> None:
        self.at += 1
        if char in "{}":
            self.plain = False
        elif char in "*?[":
            self.globs = True
        elif char == "~" and not self.begun:
            self.tilde = True
        self._add(char)

    def _add(self, text: str) -> None:
        self.part.append(text)
        self.begun = True

    # Quotes and expansions

    def _quoted(self, char: str) -> None:
        self.at += 1
        if char == "$":
            self._dollar(in_quotes=False)
        elif char == "`":
            self._backtick()
        elif char == "\\":
            self._escape()
        elif char == "'":
            self.quoted = True
            self._add(self._until("'"))
        else:
            self.quoted = True
            self._double_quotes()

    def _escape(self) -> None:
        if self.at == len(self.text):
            self.plain = False
        elif self.text[self.at] != "\n":
            self.quoted = True
            self._add(self.text[self.at])
        self.at += 1

    def _double_quotes(self) -> None:
        self._add("")
        while self.at < len(self.text):
            char = self.text[self.at]
            self.at += 1
            if char == '"':
                return
            if char == "$":
                self._dollar(in_quotes=True)
            elif char == "`":
                self._backtick()
            elif char == "\\" and self.text[self.at : self.at + 1] in ("$", "`", '"', "\\", "\n"):
                if self.text[self.at : self.at + 1] != "\n":
                    self._add(self.text[self.at])
                self.at += 1
            else:
                self._add(char)
        self.plain = False

    def _dollar(self, *, in_quotes: bool) -> None:
        following = self.text[self.at : self.at + 1]
        if following == "(":
            self._nested_parentheses()
        elif following in ("'", '"') and following and not in_quotes:
            self._mark_expanding()
        elif name := _VARIABLE.match(self.text, self.at):
            self._mark_expanding()
            self._add("$" + name.group())
            self.at = name.end()
        else:
            self._add("$")

    def _mark_expanding(self) -> None:
        self.plain = False
        self.expands = True

    def _backtick(self) -> None:
        self._mark_expanding()
        self._add("")
        self._nest(re.sub(r"\\([`$\\])", r"\1", self._until("`", escapes=True)))

    def _nested_parentheses(self) -> None:
        """Read what stands in the parentheses that open here, `$(` or `<(`, as commands of their own."""
        self._mark_expanding()
        self._add("")
        end = _closing(self.text, self.at)
        self._nest(self.text[self.at + 1 : end])
        self.at = end + 1

    def _nest(self, text: str) -> None:
        if self.depth < DEEPEST:
            self.inner.extend(_Reader(text, self.depth + 1).read())

    def _until(self, quote: str, *, escapes: bool = False) -> str:
        start = end = self.at
        while (end := self.text.find(quote, end)) >= 0 and escapes and self.text[end - 1] == "\\":
            end += 1
        if end < 0:
            self.plain = False
            end = len(self.text)
        self.at = end + 1
        return self.text[start:end]

    # Words and commands

    def _operator(self) -> None:
        found = _OPERATOR.match(self.text, self.at)
        assert found is not None
        operator = found.group()
        if operator in ("<", ">") and self.text[found.end() : found.end() + 1] == "(":
            self.at = found.end()
            self._nested_parentheses()
            return
        self.at = found.end()
        if operator in _REDIRECTIONS:
            self._begin_redirect(operator)
            return
        if operator not in ("&&", "||", ";", "|"):
            self.plain = False
        self._end_command("pipe" if operator in ("|", "|&") else "then")

    def _begin_redirect(self, operator: str) -> None:
        fd = "".join(self.part)
        if fd.isdecimal() and not self.quoted and not operator.startswith("&"):
            self._fresh()
        else:
            fd = ""
        self._end_word()
        self.redirect = (operator, fd)

    def _end_word(self) -> None:
        if not self.begun:
            return
        word = Word("".join(self.part), globs=self.globs, tilde=self.tilde, expands=self.expands)
        if self.quoted and self.globs:
            # Which of its stars stand for names, and which for themselves, is no longer told by the text.
            self.plain = False
        self._fresh()
        if self.redirect is not None:
            self._end_redirect(word)
        elif not self.draft.words and _ASSIGNMENT.match(word.text):
            self.draft.assignments.append(word)
        else:
            self.draft.words.append(word)

    def _end_redirect(self, target: Word) -> None:
        assert self.redirect is not None
        operator, fd = self.redirect
        self.redirect = None
        self.draft.redirects.append(Redirect(operator, target, fd))
        if operator in ("<<", "<<-"):
            self.plain = False
            self.heredocs.append((self.draft, target.text))

    def _end_command(self, flow: Flow) -> None:
        self._end_word()
        if self.redirect is not None:
            self.plain = False
            self.redirect = None
        if self.draft:
            self.drafts.append(self.draft)
            self.draft = _Draft(flow)
        elif flow != "then" or not self.drafts:
            self.draft.flow = flow

    def _read_bodies(self) -> None:
        for draft, delimiter in self.heredocs:
            end = re.compile(rf"^\t*{re.escape(delimiter)}$", re.MULTILINE).search(self.text, self.at)
            draft.body += self.text[self.at : end.start() if end else len(self.text)]
            self.at = end.end() + 1 if end else len(self.text)
        self.heredocs.clear()


def _closing(text: str, at: int) -> int:
    """Where the parenthesis that opens at `at` is closed; the end of the text if nowhere."""
    depth = 0
    while at < len(text):
        if skipped := _SKIPPED.match(text, at):
            at = skipped.end()
            continue
        depth += {"(": 1, ")": -1}.get(text[at], 0)
        if depth == 0:
            return at
        at += 1
    return len(text)
