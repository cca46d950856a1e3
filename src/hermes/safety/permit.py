"""From a verdict to a yes, or to Denied with words that tell the model what to do instead."""

import hashlib
from collections.abc import Awaitable, Callable
from typing import Literal

import msgspec
from msgspec import Struct

from hermes.protocol.actions import Action, CallServer, Origin, RunCommand, Verdict
from hermes.protocol.errors import Denied, Unanswered
from hermes.protocol.events import Answered, Approval
from hermes.protocol.safety import Gate

TIMEOUT = 60.0
REMEMBERED = "remembered"
"""The rule by which a gate allows what a person allowed before."""

_NO_DETOUR = "Do not try to reach the same by another way; go on without it, or say what you need and why."

Ask = Callable[[Approval, float], Awaitable[Answered | None]]


class Opinion(Struct, frozen=True):
    """What somebody who answers for the person thinks of an action."""

    decision: Literal["allow", "ask", "deny"]
    why: str = ""


Advise = Callable[[Action, Verdict, Origin], Awaitable[Opinion]]


async def ask_the_person(action: Action, verdict: Verdict, origin: Origin) -> Opinion:
    """Nobody answers for them."""
    return Opinion("ask")


def hash_of(action: Action) -> str:
    """A fingerprint of exactly this action; an approval is good for nothing else."""
    return hashlib.sha256(msgspec.json.encode(action, order="deterministic")).hexdigest()


class Permit:
    """Asks the gate about an action, and the person if the gate says so; returns if it may be done, else raises Denied.

    `origin` is called anew for each action; `ask` gives None if there is nobody to ask; `advise` may answer for the person,
    this once.
    """

    def __init__(
        self,
        gate: Gate,
        origin: Callable[[], Origin],
        ask: Ask,
        *,
        timeout: float = TIMEOUT,
        advise: Advise = ask_the_person,
    ) -> None:
        self._gate = gate
        self._origin = origin
        self._ask = ask
        self._timeout = timeout
        self._advise = advise

    async def __call__(self, action: Action) -> bool:
        """True if a person, or who answers for them, has approved this very action, now or before; False if nobody had to."""
        origin = self._origin()
        verdict = self._gate.judge(action, origin)
        if verdict.decision == "allow":
            return verdict.rule == REMEMBERED
        if verdict.decision == "block":
            raise Denied(f"Blocked by the rule {verdict.rule}: {verdict.why}. {_NO_DETOUR}")
        opinion = await self._advise(action, verdict, origin)
        if opinion.decision == "allow":
            return True
        if opinion.decision == "deny":
            raise Denied(f"Refused by the approval model: {opinion.why or verdict.why}. {_NO_DETOUR}")
        choices = self._gate.choices(action, origin)
        request = Approval(action, hash_of(action), verdict.why, choices)
        answer = await self._ask(request, self._timeout)
        if answer is None:
            raise Unanswered(
                f"This needs approval ({verdict.why}) and nobody can be asked here. {_NO_DETOUR} "
                f"The person can run hermes with --yolo{_or_allow(action, choices)} to permit it."
            )
        self._take(answer, action, origin, choices)
        return True

    def _take(self, answer: Answered, action: Action, origin: Origin, choices: tuple[str, ...]) -> None:
        if answer.how == "expired":
            raise Unanswered(f"Nobody answered within {self._timeout:.0f} seconds, which counts as no. {_NO_DETOUR}")
        if answer.how == "cancelled":
            raise Denied(f"The question was withdrawn, which counts as no. {_NO_DETOUR}")
        if answer.choice not in choices or answer.choice == "deny":
            reason = f" and says: {answer.text}" if answer.text else ""
            raise Denied(f"{answer.by or 'The person'} said no{reason}. {_NO_DETOUR}")
        self._gate.remember(action, origin, answer.choice)


def _or_allow(action: Action, choices: tuple[str, ...]) -> str:
    """What else the person can do so that this very thing is permitted."""
    match action:
        case RunCommand() if "always" in choices:
            return ", or put the command in command_allowlist,"
        case CallServer(server=server):
            return f", or set mcp_servers.{server}.approval to allow,"
        case _:
            return ""
