"""A pen for a terminal or a pipe: whole lines, running text, and in a terminal one line that is wiped again."""

import base64
import os
from collections.abc import Mapping
from typing import Literal, TextIO

from hermes.cli.table import cut, one_line
from hermes.commands.words import harmless

Style = Literal["", "dim", "bold", "red", "green", "yellow", "cyan"]
CODES: dict[Style, str] = {"dim": "2", "bold": "1", "red": "31", "green": "32", "yellow": "33", "cyan": "36"}
PROMPT = "› "
WIPE = "\r\x1b[K"
WIDTH = 100
"""Where there is no terminal to measure."""
NARROWEST = 40


class Pen:
    """Draws on `out`. While `steady` is set, nothing is drawn that would be wiped: something else uses the last line."""

    def __init__(self, out: TextIO, environ: Mapping[str, str]) -> None:
        self._out = out
        self.is_screen = out.isatty() and environ.get("TERM") != "dumb"
        self._has_colours = self.is_screen and not environ.get("NO_COLOR")
        self.at_start = True
        self.steady = False
        self._wipes = False

    @property
    def width(self) -> int:
        if not self.is_screen:
            return WIDTH
        try:
            columns = os.get_terminal_size(self._out.fileno()).columns
        except OSError:
            return WIDTH
        return max(columns, NARROWEST) if columns else WIDTH

    def paint(self, style: Style, text: str) -> str:
        return f"\x1b[{CODES[style]}m{text}\x1b[0m" if style and text and self._has_colours else text

    def fit(self, text: str, width: int) -> str:
        """One line that is at most so wide."""
        return cut(one_line(text[: 8 * width].expandtabs(4)), width)

    def text(self, text: str, style: Style = "") -> None:
        """Running text, as it comes."""
        if text:
            self._wipe()
            self.put(self.paint(style, harmless(text)))
            self.at_start = text.endswith("\n")

    def line(self, text: str = "") -> None:
        """A whole line, whose words are harmless already."""
        self.end()
        self.put(f"{text}\n")

    def glance(self, text: str) -> None:
        """A line that is there until the next thing is drawn; nothing where it could not be wiped."""
        if self.is_screen and self.at_start and not self.steady:
            self.put(WIPE + self.paint("dim", self.fit(text, self.width - 1)))
            self._wipes = True

    def clean(self) -> None:
        """Empty the screen."""
        if self.is_screen:
            self.put("\x1b[2J\x1b[H")

    def copy(self, text: str) -> bool:
        """Hand a text to the clipboard of whoever sits before the terminal, over ssh too; False where there is no terminal."""
        if self.is_screen:
            self.put(f"\x1b]52;c;{base64.b64encode(text.encode(errors='replace')).decode()}\x07")
        return self.is_screen

    def end(self) -> None:
        """Come to the start of a line."""
        self._wipe()
        if not self.at_start:
            self.put("\n")
            self.at_start = True

    def put(self, text: str) -> None:
        """Exactly this, steering sequences and all."""
        self._out.write(text)
        self._out.flush()

    def _wipe(self) -> None:
        if self._wipes:
            self.put(WIPE)
            self._wipes = False
