"""The seams of safety: who judges an effect, and what holds a command within its bounds."""

from collections.abc import Mapping
from contextvars import ContextVar
from typing import Protocol

from msgspec import Struct

from hermes.protocol.actions import Action, Origin, Verdict


class Gate(Protocol):
    """The one place that every effect passes."""

    def judge(self, action: Action, origin: Origin) -> Verdict: ...

    def choices(self, action: Action, origin: Origin) -> tuple[str, ...]:
        """The answers that a person may give about it."""
        ...

    def remember(self, action: Action, origin: Origin, choice: str) -> None:
        """Take in a person's answer: session or always."""
        ...


class Grants(Struct, frozen=True):
    """What a person has permitted beyond a sandbox's bounds: absolute paths to read and write, or no bounds at all."""

    paths: tuple[str, ...] = ()
    everything: bool = False


NO_GRANTS = Grants()

granted: ContextVar[Grants] = ContextVar("granted", default=NO_GRANTS)
"""The grants for whatever this task starts now. A terminal that has a sandbox hands them to it."""


class Sandbox(Protocol):
    """Bounds that the operating system enforces round a command."""

    @property
    def kind(self) -> str:
        """What enforces them: bubblewrap, landlock or none."""
        ...

    @property
    def notice(self) -> str:
        """A line for people if there are no bounds, or weaker ones than there should be."""
        ...

    def wrap(
        self,
        argv: tuple[str, ...],
        env: Mapping[str, str],
        cwd: str,
        grants: Grants,
        *,
        tty: bool = False,
        lasting: bool = False,
    ) -> tuple[tuple[str, ...], dict[str, str]]:
        """The command that runs this one inside, and its environment.

        `tty` if its input is a terminal; `lasting` if what it starts may outlive it, and us.
        """
        ...

    def outside(self, path: str) -> str:
        """Where something lies that commands inside call by this path."""
        ...

    def close(self) -> None:
        """Remove what only the commands of this session could see."""
        ...
