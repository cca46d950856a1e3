"""The seam of safety: who judges an effect."""

from typing import Protocol

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
