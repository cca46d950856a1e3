"""The seam that a remote backend fills: a place where a program can be started, fed and read."""

import asyncio
from collections.abc import Callable, Sequence
from typing import Protocol

Take = Callable[[bytes], None]


class Running(Protocol):
    """A program that was started there; `ended` is done, with its exit code, when no more output can come."""

    @property
    def ended(self) -> asyncio.Future[int]: ...

    async def write(self, data: bytes) -> None:
        """Write all of it to the program's input, or raise OSError."""
        ...

    def close_input(self) -> None: ...

    def abandon(self) -> None:
        """Let go of it, whether it still runs there or not."""
        ...


class Place(Protocol):
    """Somewhere else. `folder` is where a terminal there begins ("" means its home folder)."""

    @property
    def kind(self) -> str: ...

    @property
    def folder(self) -> str: ...

    @property
    def login(self) -> bool:
        """Whether a login shell there knows more than a plain one, as on a machine with people."""
        ...

    async def open(self) -> None:
        """Make sure that programs can be started: called before each one, and cheap if nothing is to be done.

        UserError if only the person can mend it; TerminalError if it may work the next time.
        """
        ...

    async def start(self, argv: Sequence[str], output: Take, errors: Take) -> Running:
        """Start a program there, with its output and its error output handed on as they come."""
        ...

    def on_screen(self, argv: Sequence[str]) -> tuple[Sequence[str], dict[str, str]] | None:
        """The local command, with its environment, that runs a program there on the screen it is itself run on."""
        ...

    def doubt(self) -> None:
        """Something went wrong: the next `open` has to look again."""
        ...

    async def rest(self) -> None:
        """Nobody needs it for now; the next `open` wakes it."""
        ...

    async def close(self) -> None:
        """Let go of it for good."""
        ...
