"""A terminal's keyboard: line editing and history by readline, and lines that are not shown."""

import asyncio
import io
import os
import sys
import termios
from pathlib import Path
from typing import Any

from hermes.cli.pen import PROMPT, WIPE, Pen
from hermes.cli.reader import Lines
from hermes.tui.prompt.history import PromptHistory

PASTE_OFF = "\x1b[?2004l"


class Keyboard:
    """The keyboard of a terminal, with line editing and history; `close` leaves the terminal as it was found.

    Readline cannot be interrupted. A line whose reader has gone stays open, and the next reader gets it: the prompt is
    drawn again with what was typed so far.
    """

    def __init__(self, history: Path, pen: Pen) -> None:
        self._history, self._pen = PromptHistory(history), pen
        self._fd = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._fd)
        self._readline = _readline(self._history, pastes=pen.is_screen)
        self._lines = Lines(self._type)
        self._drawn = self._closed = False
        if isinstance(sys.stdin, io.TextIOWrapper):
            sys.stdin.reconfigure(errors="replace")

    def close(self) -> None:
        if self.reading:
            termios.tcsetattr(self._fd, termios.TCSANOW, self._before)
            self._pen.put(f"{PASTE_OFF}\r\n" if self._readline and self._pen.is_screen else "\n")
        self._closed = True

    @property
    def reading(self) -> bool:
        """Whether a line is being typed, for whomever it is."""
        return self._lines.reading and not self._closed

    async def line(self, *, fresh: bool = False) -> str | None:
        """The next line that is typed, not one from before if it must be fresh; None at the end (Ctrl+D)."""
        self.redraw()
        line = await self._lines.next(fresh=fresh)
        if line is None and self._readline is None:
            self._pen.put("\n")
        return line

    async def secret(self) -> str | None:
        """A line that is not shown while it is typed, nor kept in the history."""
        with self._lines.held():
            if self.reading:
                self._pen.put("(press Enter first)\n")
                self._lines.give_back(await self.line(fresh=True))
            return await self._unseen()

    async def _unseen(self) -> str | None:
        shown = termios.tcgetattr(self._fd)
        hidden = [*shown[:3], shown[3] & ~termios.ECHO | termios.ICANON, *shown[4:]]
        loop = asyncio.get_running_loop()
        typed: asyncio.Future[bytes] = loop.create_future()
        termios.tcsetattr(self._fd, termios.TCSADRAIN, hidden)
        loop.add_reader(self._fd, lambda: typed.done() or typed.set_result(_whole_line(self._fd)))
        try:
            line = await typed
        finally:
            loop.remove_reader(self._fd)
            termios.tcsetattr(self._fd, termios.TCSAFLUSH if typed.cancelled() else termios.TCSADRAIN, shown)
            self._pen.put("\n")
        return line.decode(errors="replace").rstrip("\n") if line else None

    def forget_typed(self) -> None:
        """Drop what was typed while nobody read, so that it answers no question that comes now."""
        if not self.reading:
            termios.tcflush(self._fd, termios.TCIFLUSH)

    def hide(self) -> None:
        """Take the prompt off the screen while something is drawn."""
        if self.reading and self._drawn:
            self._pen.put(WIPE if self._pen.is_screen else "\n")
            self._drawn = False

    def redraw(self) -> None:
        """Put the prompt back, with what was typed so far."""
        if self.reading:
            self.hide()
            self._pen.put(PROMPT + (self._readline.get_line_buffer() if self._readline else ""))
            self._drawn = True

    def remember(self, line: str) -> None:
        """Keep a line for the arrow keys, now and in later sessions."""
        if self._readline is not None and self._history.remember(line):
            self._readline.add_history(line)
            self._history.write(line)

    def _type(self) -> str | None:
        self._drawn = True
        try:
            return input(PROMPT)
        except (EOFError, OSError):
            return None


def _whole_line(fd: int) -> bytes:
    """What a terminal that gives whole lines has; nothing at the end, or when it has gone."""
    try:
        return os.read(fd, 65536)
    except OSError:
        return b""


def _readline(history: PromptHistory, *, pastes: bool) -> Any:
    """Python's readline with the lines of earlier sessions; None where Python was built without it.

    Where the terminal tells what is pasted, several lines at once are one message.
    """
    try:
        import readline
    except ImportError:
        return None
    readline.set_auto_history(False)
    if "libedit" not in (readline.__doc__ or ""):
        readline.parse_and_bind(f"set enable-bracketed-paste {'on' if pastes else 'off'}")
    readline.clear_history()
    history.read()
    for entry in history.entries:
        readline.add_history(entry)
    return readline
