"""What a shell command comes down to: programs with their arguments, and what could not be followed."""

import os

from msgspec import Struct
from msgspec.structs import replace

# What a function is called here that starts itself again, twice or at its own side.
FORK_BOMB = ":(){"


class Puzzle(Struct, frozen=True):
    """A part of a command that nobody can follow, and why."""

    why: str


class Input(Struct, frozen=True):
    """What a program is fed: the text if it is known, the files, and the programs in front of it in the pipe."""

    text: str | None = ""
    files: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()


class Step(Struct, frozen=True, kw_only=True):
    """One program with its arguments, behind its wrappers.

    `before` are the words of the wrappers, `env` the variables set for it, `writes` where its output goes, `cwds` the
    folders it may run in, `script` the text of the file it runs if this command wrote that file, `links` where links
    lead that this command has made before, `fetched` whether it has brought whole folders from elsewhere before. A step
    is `plain` if these words are all there is to it.
    """

    name: str
    args: tuple[str, ...] = ()
    wraps: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    env: tuple[tuple[str, str], ...] = ()
    input: Input = Input()
    writes: tuple[str, ...] = ()
    cwds: tuple[str, ...] = ()
    script: str = ""
    links: tuple[tuple[str, str], ...] = ()
    fetched: bool = False
    background: bool = False
    plain: bool = False

    @property
    def argv(self) -> tuple[str, ...]:
        return (self.name, *self.args)


class Context(Struct, frozen=True):
    """How a part of a command is run: its input, what wraps it, and how deep it lies, in braces and in shells."""

    input: Input = Input()
    wraps: tuple[str, ...] = ()
    background: bool = False
    plain: bool = True
    depth: int = 0
    shells: int = 0

    def deeper(self) -> "Context":
        return replace(self, depth=self.depth + 1)

    def inside(self, *wraps: str) -> "Context":
        """For what a program runs in turn."""
        return replace(self.deeper(), plain=False, input=Input(), shells=self.shells + 1, wraps=(*self.wraps, *wraps))


def path_from(cwd: str, text: str) -> str:
    return os.path.normpath(os.path.join(cwd, text)).replace("//", "/")
