"""A script of sed, read order by order: which files it reads and writes, and whether it starts a program."""

import re

from msgspec import Struct

from hermes.safety.commands.syntax import SECRET, UNKNOWN
from hermes.safety.patterns import Pattern

_BETWEEN = Pattern(r"(?:[\s;}]|#[^\n]*)*")
_LINE = Pattern(rf"[ \t]*[+~]?(?:\d|{UNKNOWN}{SECRET}?)+(?:~\d+)?|\$")
_LABEL = Pattern(r"[ \t]*[^;}\s]*")
_NUMBER = Pattern(r"[ \t]*\d*")
_REST = Pattern(r"[ \t]*([^\n]*)")
_TEXT = Pattern(r"(?:[^\\\n]|\\.|\\$)*", re.DOTALL)
# In brackets the mark that ends a pattern is a letter like any other.
_BRACKET = Pattern(r"\[\^?\]?(?:\[[:.=][^\]\n]*\]|[^\]\n])*\]")
_NOTHING = Pattern(r"")
_FLAGS = Pattern(r"[gpiImM\d]*")


class Orders(Struct):
    """What a script does beyond changing the text that passes; `why` it asks is empty if nothing speaks against it."""

    reads: list[str] = []
    writes: list[str] = []
    why: str = ""


def read_script(script: str) -> Orders:
    """Read a script to its end, or up to the first order that starts a program or is not known."""
    return _Reader(script).read()


class _Reader:
    def __init__(self, script: str) -> None:
        self._script = script
        self._at = 0
        self._found = Orders()

    def read(self) -> Orders:
        self._skip(_BETWEEN)
        while self._at < len(self._script) and not self._found.why:
            self._address()
            self._order()
            self._skip(_BETWEEN)
        return self._found

    def _address(self) -> None:
        """Go past the lines that an order is for: `3`, `$`, `/a/I`, `\\,a,`, two of them with a comma, a `!` behind."""
        while self._at < len(self._script):
            mark = self._script[self._at]
            if mark == "/" or (mark == "\\" and self._script[self._at + 1 : self._at + 2].strip()):
                self._at += 1 if mark == "/" else 2
                self._past(self._script[self._at - 1], _BRACKET)
                self._skip(Pattern(r"[IM]*"))
            elif not self._skip(_LINE):
                break
            self._skip(Pattern(r"[\s!]*"))
            if not self._skip(Pattern(r",\s*")):
                break
        self._skip(Pattern(r"[\s!]*"))

    def _order(self) -> None:
        letter = self._script[self._at : self._at + 1]
        self._at += 1
        match letter:
            case "e":
                self._found.why = "the command e has sed start a program"
            case "s" | "y":
                self._change(letter)
            case "r" | "R":
                self._found.reads.append(self._rest())
            case "w" | "W":
                self._found.writes.append(self._rest())
            case "a" | "i" | "c":
                self._skip(_TEXT)
            case ":" | "b" | "t" | "T" | "v":
                self._skip(_LABEL)
            case "q" | "Q" | "l" | "L":
                self._skip(_NUMBER)
            case letter if letter and letter in "{=dDFgGhHnNpPxz":
                pass
            case _:
                self._found.why = "nobody can tell what a part of the script has sed do"

    def _change(self, letter: str) -> None:
        mark = self._script[self._at : self._at + 1]
        self._at += 1
        if not mark or not (self._past(mark, _BRACKET if letter == "s" else _NOTHING) and self._past(mark, _NOTHING)):
            self._found.why = "a change in the script of sed has no end"
            return
        if letter == "y":
            return
        self._skip(_FLAGS)
        match self._script[self._at : self._at + 1]:
            case "e":
                self._found.why = "the flag e has sed start a program"
            case "w":
                self._at += 1
                file = self._rest()
                if file[:1] == "e":
                    self._found.why = "the flags we have sed write, or start a program"
                self._found.writes.append(file)
            case flag if flag.startswith(UNKNOWN):
                self._found.why = "nobody can tell with which flag sed changes the text"
            case _:
                pass

    def _past(self, mark: str, whole: Pattern) -> bool:
        """Go behind the next `mark` that has no backslash before it and is in no `whole`; whether there is one."""
        while self._at < len(self._script):
            if self._skip(whole):
                continue
            here = self._script[self._at]
            self._at += 2 if here == "\\" else 1
            if here == mark:
                return True
        return False

    def _rest(self) -> str:
        found = _REST.match(self._script, self._at)
        self._at = found.end() if found else len(self._script)
        return found[1] if found else ""

    def _skip(self, pattern: Pattern) -> bool:
        """Go past what the pattern matches here; whether that is anything."""
        found = pattern.match(self._script, self._at)
        before, self._at = self._at, found.end() if found else self._at
        return self._at > before
