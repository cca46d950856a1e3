"""The seams of safety: who judges an effect, what hides secrets, what can undo a change."""

from typing import Protocol

from hermes.protocol.actions import Action, Origin, Verdict


class Gate(Protocol):
    """The one place that every effect passes."""

    def judge(self, action: Action, origin: Origin) -> Verdict: ...

    def remember(self, action: Action, origin: Origin, choice: str) -> None:
        """Take in a person's answer: session or always."""
        ...


class Redactor(Protocol):
    """Masks secrets in text that goes to a model, a chat, a log or the store."""

    def __call__(self, text: str) -> str: ...


class Checkpoints(Protocol):
    """Snapshots of a folder, taken before a turn's first change to it."""

    async def before_change(self, folder: str, turn: str) -> None: ...
