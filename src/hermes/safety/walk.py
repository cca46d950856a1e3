"""Follow a command as a shell would, as far as its words tell: quotes, wrappers, variables, `cd`, shells in shells."""

import os
import re
import unicodedata
from collections.abc import Iterator, Mapping

from msgspec import Struct

from hermes.safety.argv import SHELLS, braces, program, split_options, unwrapped
from hermes.safety.commands import DEEPEST, UNSEEN, Simple, read

MOST_FOLDERS = 16

_ESCAPES = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b[@-_]")
_WORD_GAP = re.compile(r"\$\{?IFS(?:%\?\?)?\}?(?:\$\d)?")
_VARIABLE = re.compile(r"\$(?:\{(?P<braced>\w+)(?::?[-?=+][^}]*)?\}|(?P<name>[A-Za-z_]\w*))")


class Text(Struct, frozen=True):
    """What a shell is handed to run: the command itself, or one in it."""

    text: str


class Step(Struct, frozen=True):
    """One program with its arguments, the files it is fed from and writes to, and the folders it may run in.

    `before` are the words of the wrappers in front of it, `body` its here-document.
    """

    before: tuple[str, ...]
    name: str
    args: tuple[str, ...]
    feeds: tuple[str, ...]
    writes: tuple[str, ...]
    body: str
    cwds: tuple[str, ...]


def normalise(text: str) -> str:
    """The text without terminal escapes, characters nobody sees, and look-alikes of plain letters."""
    return unicodedata.normalize("NFKC", UNSEEN.sub("", _ESCAPES.sub("", text)))


def path_from(cwd: str, text: str) -> str:
    return os.path.normpath(os.path.join(cwd, text)).replace("//", "/")


class Walk:
    """One walk through one command. It does not know which `cd` will succeed, so it keeps every folder in mind."""

    def __init__(self, cwd: str, user_home: str, variables: Mapping[str, str] | None = None) -> None:
        self._cwds = [cwd]
        self._user_home = user_home
        self._variables = {"HOME": user_home, **(variables or {})}

    def through(self, command: str) -> Iterator[Text | Step]:
        return self._text(normalise(command), 0)

    def _text(self, text: str, depth: int) -> Iterator[Text | Step]:
        if depth > DEEPEST:
            return
        yield Text(text)
        script = read(_WORD_GAP.sub(" ", text))
        said: list[str] = []
        texts = [each.target.text for simple in script.commands for each in simple.redirects if each.operator == "<<<"]
        for simple in script.commands:
            self._take_assignments(simple)
            argv = self._expanded(simple)
            piped = said if simple.flow == "pipe" else []
            yield from self._simple(simple, argv, piped, [simple.body, *texts, " ".join(piped)], depth)
            said = _said(argv, simple)

    def _simple(
        self, simple: Simple, argv: list[str], piped: list[str], inputs: list[str], depth: int
    ) -> Iterator[Text | Step]:
        before = argv
        argv, is_xargs = unwrapped(argv)
        name, args = (program(argv[0]), argv[1:]) if argv else ("", [])
        if is_xargs:
            args = [*args, *piped]
        if name == "env" and args[:1] == ["-S"]:
            yield from self._text(" ".join(args[1:]), depth + 1)
        for text in _inner_texts(name, args, inputs):
            yield from self._text(text, depth + 1)
        yield Step(
            tuple(before[: len(before) - len(argv)]),
            name,
            tuple(args),
            tuple(self._targets(simple, "<", "<>")),
            tuple(self._targets(simple, ">", ">>", ">|", ">&", "&>", "&>>", "<>")),
            simple.body,
            tuple(self._cwds),
        )
        if name == "cd":
            _, folders = split_options(args)
            self._follow(folders[0] if folders else self._user_home)

    def _targets(self, simple: Simple, *operators: str) -> Iterator[str]:
        for redirect in simple.redirects:
            if redirect.operator in operators:
                text = self._substituted(redirect.target.text)
                yield self._at_home(text) if redirect.target.tilde else text

    # Words

    def _take_assignments(self, simple: Simple) -> None:
        exported = simple.words[1:] if simple.argv[:1] in (("export",), ("declare",), ("readonly",)) else ()
        for word in (*simple.assignments, *exported):
            name, _, value = word.text.partition("=")
            value = self._substituted(value)
            self._variables[name] = self._at_home(value) if value.startswith("~") else value

    def _substituted(self, text: str) -> str:
        return _VARIABLE.sub(lambda found: self._variables.get(found["braced"] or found["name"], found.group()), text)

    def _expanded(self, simple: Simple) -> list[str]:
        words: list[str] = []
        for word in simple.words:
            text = self._substituted(word.text)
            if word.expands and not words:
                words.extend(text.split() or [""])
            elif word.tilde:
                words.extend(map(self._at_home, braces(text)))
            else:
                words.extend(braces(text))
        return words

    def _at_home(self, text: str) -> str:
        name, slash, rest = text.partition("/")
        return (self._user_home if name == "~" else f"/home/{name[1:]}") + slash + rest

    def _follow(self, target: str) -> None:
        """Add where a `cd` may lead; once there are many such places, only what is said outright."""
        starts = self._cwds if len(self._cwds) < MOST_FOLDERS else ["/"] * target.startswith("/")
        led = [path_from(start, target) for start in starts]
        self._cwds = list(dict.fromkeys([*led, *self._cwds]))[:MOST_FOLDERS]


def _inner_texts(name: str, args: list[str], inputs: list[str]) -> Iterator[str]:
    """Texts that this command hands to a shell, in its arguments or as its input."""
    if name == "eval":
        yield " ".join(args)
    elif name in SHELLS or name == "su":
        for at, arg in enumerate(args[:-1]):
            if re.fullmatch(r"-[a-z]*c", arg) or arg == "--command":
                yield args[at + 1]
        yield from inputs


def _said(argv: list[str], simple: Simple) -> list[str]:
    """What a command passes on to the next in a pipe, where its own words say it."""
    if argv and program(argv[0]) in ("echo", "printf"):
        return argv[1:]
    return [simple.body] if argv and program(argv[0]) == "cat" else []
