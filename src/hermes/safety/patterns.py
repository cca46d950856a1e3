"""Regular expressions that are compiled when they are first needed: a command or a text needs few of them, and there are many."""

import re
import sys
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any


class Pattern:
    """A regular expression, used like one of `re`."""

    def __init__(self, text: str, flags: int = 0) -> None:
        self._text = text
        self._flags = flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(self._text, self._flags)

    def match(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._compiled.match(text, start, end)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self._compiled.fullmatch(text)

    def search(self, text: str, start: int = 0, end: int = sys.maxsize) -> re.Match[str] | None:
        return self._compiled.search(text, start, end)

    def split(self, text: str) -> list[str | Any]:
        return self._compiled.split(text)

    def findall(self, text: str) -> list[Any]:
        return self._compiled.findall(text)

    def finditer(self, text: str, start: int = 0, end: int = sys.maxsize) -> Iterator[re.Match[str]]:
        return self._compiled.finditer(text, start, end)

    def sub(self, by: str | Callable[[re.Match[str]], str], text: str) -> str:
        return self._compiled.sub(by, text)
