"""A list at a terminal to choose from: arrows move, typing narrows it down, Enter takes, Escape leaves."""

import asyncio
import os
import re
import sys
import termios
from collections.abc import Sequence
from typing import TextIO

from msgspec import Struct

from hermes.cli.setup_talk import Talk
from hermes.cli.table import cut, one_line

KEYS = {
    "\x1b[A": "up",
    "\x1bOA": "up",
    "\x10": "up",
    "\x1b[B": "down",
    "\x1bOB": "down",
    "\x0e": "down",
    "\x1b[5~": "page up",
    "\x1b[6~": "page down",
    "\x1b[H": "first",
    "\x1b[1~": "first",
    "\x1b[F": "last",
    "\x1b[4~": "last",
    "\r": "take",
    "\n": "take",
    "\x1b": "leave",
    "\x04": "leave",
    "\x7f": "erase",
    "\b": "erase",
    "\x15": "erase all",
}
_key = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O[A-Z])|.", re.DOTALL)
_unfinished = re.compile(r"\x1b(?:\[[0-?]*)?$")
PAUSE = 0.05
"""Seconds after which an escape sign that came alone was the Escape key, and no beginning of another one."""
PAGE = 10
AROUND = 3
"""Lines of the screen that are not options."""
HINT = "arrows move, typing narrows it down, Enter takes, Escape leaves"


class Option(Struct, frozen=True):
    """A line of the list, and what can be typed to find it beside the words in it."""

    line: str
    words: str = ""


class Choosing:
    """Where the mark stands, `at` one of the options that are left after what was typed."""

    def __init__(self, options: Sequence[Option], at: int = 0) -> None:
        self._options = options
        self.typed = ""
        self.at = at

    @property
    def found(self) -> list[int]:
        """The options that hold every word that was typed, in their order."""
        words = self.typed.lower().split()
        return [
            n for n, one in enumerate(self._options) if all(word in f"{one.line} {one.words}".lower() for word in words)
        ]

    @property
    def chosen(self) -> int | None:
        """The option under the mark; None if none is left."""
        found = self.found
        return found[self.at] if found else None

    def press(self, key: str) -> None:
        match key:
            case "up" | "down" | "page up" | "page down":
                step = PAGE if key.startswith("page") else 1
                self._move(self.at + (step if key.endswith("down") else -step))
            case "first":
                self._move(0)
            case "last":
                self._move(len(self._options))
            case "erase" | "erase all":
                self._type(self.typed[:-1] if key == "erase" else "")
            case _ if key.isprintable():
                self._type(self.typed + key)
            case _:
                pass

    def _type(self, text: str) -> None:
        self.typed, self.at = text, 0

    def _move(self, at: int) -> None:
        self.at = max(0, min(at, len(self.found) - 1))

    def lines(self, title: str, width: int, height: int) -> list[str]:
        """The list as it stands on a screen of this size, the marked option always among what is shown."""
        room = max(1, height - AROUND)
        found = self.found
        top = max(0, min(self.at - room // 2, len(found) - room))
        shown = [
            f"{'›' if top + n == self.at else ' '} {self._options[index].line}"
            for n, index in enumerate(found[top : top + room])
        ]
        count = f"{len(found)} of {len(self._options)}"
        lines = [f"{title}: {self.typed}", *(shown or ["  nothing has these words"]), f"{count}; {HINT}"]
        return [cut(one_line(line), width - 1) for line in lines]


async def pick(title: str, options: Sequence[Option], at: int = 0) -> int | None:
    """The index of what was chosen; None if nothing was. Where a screen cannot be drawn on, by number."""
    if os.get_terminal_size(sys.stdin.fileno()).lines == 0 or not _draws():
        return await Talk(asks=True).pick(title, [option.line for option in options], at)
    choosing, out, terminal = Choosing(options, at), sys.stderr, sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    raw = [*before]
    raw[0] &= ~termios.ICRNL
    raw[3] &= ~(termios.ECHO | termios.ICANON)
    termios.tcsetattr(terminal, termios.TCSADRAIN, raw)
    drawn = 0
    try:
        while True:
            drawn = _draw(choosing, title, out, drawn)
            for key in await _pressed(terminal):
                if key in ("take", "leave"):
                    return choosing.chosen if key == "take" else None
                choosing.press(key)
    finally:
        out.write(_wipe(drawn))
        out.flush()
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def _draws() -> bool:
    from hermes.config import environment

    return environment().get("TERM", "dumb") != "dumb"


def _draw(choosing: Choosing, title: str, out: TextIO, drawn: int) -> int:
    """Draw the list over the one before; returns how many lines it has."""
    size = os.get_terminal_size(out.fileno())
    lines = choosing.lines(title, size.columns or 80, size.lines or 24)
    out.write(_wipe(drawn) + "\r\n".join(lines))
    out.flush()
    return len(lines)


def _wipe(drawn: int) -> str:
    up = f"\x1b[{drawn - 1}A" if drawn > 1 else ""
    return f"\r{up}\x1b[J" if drawn else ""


async def _pressed(terminal: int) -> list[str]:
    """The keys that were pressed since, at least one; the end of the terminal is as if the person had left."""
    data = await _read(terminal)
    if not data:
        return ["leave"]
    while _unfinished.search(data):
        try:
            async with asyncio.timeout(PAUSE):
                more = await _read(terminal)
        except TimeoutError:
            break
        data += more
        if not more:
            break
    return [KEYS.get(found[0], found[0]) for found in _key.finditer(data)]


async def _read(terminal: int) -> str:
    loop, ready = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(terminal, ready.set)
    try:
        await ready.wait()
        return os.read(terminal, 4096).decode(errors="replace")
    except OSError:
        return ""
    finally:
        loop.remove_reader(terminal)
