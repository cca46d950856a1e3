"""The gate: one verdict for every effect, by hard blocks, the person's settings, what they answered before, and rules."""

from collections.abc import Callable, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Literal

import msgspec
from msgspec import Struct

from hermes.protocol.actions import (
    Action,
    CallServer,
    OpenURL,
    Origin,
    Persist,
    ReadPath,
    RunCommand,
    SendMessage,
    Spend,
    StartServer,
    Verdict,
    WritePath,
)
from hermes.safety.commands.grants import Grant
from hermes.safety.commands.verdicts import REACHES_OUT
from hermes.safety.contracts import Contracts
from hermes.safety.permit import REMEMBERED
from hermes.safety.places import ALLOW, ASK, BLOCK, Places, reading, writing

if TYPE_CHECKING:
    from hermes.safety.commands.case import Case

# Terminals whose effects stay in a box that can be thrown away. A machine behind ssh is somebody's machine.
CONTAINERS = frozenset({"docker", "podman", "singularity", "apptainer", "modal", "daytona"})
# Rules about what decides how Hermes itself behaves.
OWN = frozenset({"own-policy", "own-files"})
SCRATCH = Verdict(ALLOW, "temporary", "it is a temporary file of this session's own")


class Policy(Struct, frozen=True, kw_only=True):
    """What the person has settled: how to ask, what never runs, what always may, and per MCP server whether to ask."""

    places: Places
    mode: Literal["manual", "smart", "off"] = "manual"
    yolo: bool = False
    deny: tuple[str, ...] = ()
    allow: tuple[Grant, ...] = ()
    servers: dict[str, Literal["allow", "ask"]] = {}


class Gate:
    """Judges effects by a policy, which may be replaced at any time, and remembers what a person allowed.

    `always` keeps a grant for good; `not_undoable` says why a change to a path could not be rolled back, or nothing;
    `contracts` knows what the tools of MCP servers said of themselves before; `described` gives what each tool that can be
    called says of itself, after the name of its server; `is_private` tells whether only this session's commands and files
    see a path; `hides_keys` whether commands run where ssh finds no keys.
    """

    def __init__(
        self,
        policy: Policy,
        *,
        always: Callable[[Grant], None],
        not_undoable: Callable[[str], str] = lambda path: "",
        contracts: Contracts | None = None,
        described: Callable[[], Sequence[tuple[str, str]]] = tuple,
        is_private: Callable[[str], bool] = lambda path: False,
        hides_keys: Callable[[], bool] = lambda: False,
    ) -> None:
        self.policy = policy
        self._hides_keys = hides_keys
        self._is_private = is_private
        self._described = described
        self._always = always
        self._not_undoable = not_undoable
        self._contracts = contracts
        self._grants: set[tuple[str, str, Grant]] = set()
        self._allowed: set[tuple[str, Action]] = set()

    def judge(self, action: Action, origin: Origin) -> Verdict:
        verdict = self._rule(action, origin)
        if verdict.decision == BLOCK:
            return verdict
        if pattern := self._denied(action, origin):
            return Verdict(BLOCK, "deny", f"the settings forbid {pattern}")
        if verdict.decision == ALLOW:
            return verdict
        if (
            isinstance(action, RunCommand | ReadPath | WritePath)
            and action.terminal in CONTAINERS
            and verdict.rule not in REACHES_OUT
        ):
            return Verdict(ALLOW, "container", f"it stays inside {action.terminal}")
        if self.policy.yolo or self.policy.mode == "off":
            return Verdict(ALLOW, "not-asking", "approvals are switched off")
        if self._is_remembered(action, origin):
            return Verdict(ALLOW, REMEMBERED, "the person allowed it before")
        return verdict

    def choices(self, action: Action, origin: Origin) -> tuple[str, ...]:
        """The answers that make sense: money is allowed once at a time, and for good only what words can tell."""
        match action:
            case Spend():
                return ("once", "deny")
            case RunCommand() if self._case(action, origin).new_grants():
                return ("once", "session", "always", "deny")
            case CallServer() if self._is_changed(action):
                return ("once", "always", "deny")
            case _:
                return ("once", "session", "deny")

    def remember(self, action: Action, origin: Origin, choice: str) -> None:
        if choice not in ("session", "always") or choice not in self.choices(action, origin):
            return
        if isinstance(action, CallServer) and self._contracts is not None and choice == "always":
            return self._contracts.approve(action.server, action.tool, action.contract)
        grants = self._case(action, origin).new_grants() if isinstance(action, RunCommand) else ()
        if choice == "always":
            self.policy = msgspec.structs.replace(self.policy, allow=(*self.policy.allow, *grants))
            for grant in grants:
                self._always(grant)
            return
        self._allowed.add((origin.session, _without_content(action)))
        if isinstance(action, RunCommand):
            self._grants.update((origin.session, action.cwd, grant) for grant in grants)

    def needs_person(self, action: Action, origin: Origin) -> bool:
        """Whether nobody else may answer for the person: a text from elsewhere may be behind it, or Hermes would change."""
        match action:
            case _ if origin.untrusted:
                return True
            case RunCommand():
                return bool(OWN & self._case(action, origin).rules())
            case ReadPath() | WritePath() | OpenURL():
                return self._rule(action, origin).rule in OWN
            case _:
                return True

    # What was answered before

    def _is_remembered(self, action: Action, origin: Origin) -> bool:
        if (origin.session, _without_content(action)) in self._allowed:
            return True
        if not isinstance(action, RunCommand):
            return False
        here = [grant for session, cwd, grant in self._grants if (session, cwd) == (origin.session, action.cwd)]
        return self._case(action, origin).is_covered([*self.policy.allow, *here])

    def _denied(self, action: Action, origin: Origin) -> str:
        if not isinstance(action, RunCommand) or not self.policy.deny:
            return ""
        texts = self._case(action, origin).texts()
        matches = (
            pattern for pattern in self.policy.deny if any(fnmatchcase(each.lower(), pattern.lower()) for each in texts)
        )
        return next(matches, "")

    # Rules

    def _rule(self, action: Action, origin: Origin) -> Verdict:
        match action:
            case RunCommand():
                return self._case(action, origin).verdict()
            case ReadPath(path):
                return reading(path, self.policy.places, origin.workspace)
            case WritePath(path):
                return self._write(path, origin)
            case CallServer():
                return self._call(action, origin)
            case StartServer(server):
                return _unless_foreign(self._heard(origin), "start-server", f"starting {server}")
            case Persist():
                return self._keep(action, origin)
            case SendMessage(target):
                if _is_asked_for(action, origin):
                    return Verdict(ALLOW, "said", "it is what the person said to send")
                return _unless_foreign(self._heard(origin), "send", f"a message to {target}")
            case OpenURL(url):
                return Verdict(ASK, "url", f"nothing is known about {url}")
            case Spend(what, amount):
                return Verdict(ASK, "spend", f"{what} costs {amount:.2f} dollars")

    def _case(self, action: RunCommand, origin: Origin) -> "Case":
        # The rules about programs cost tens of milliseconds of import, and many a session runs no command.
        from hermes.safety.commands.case import Case

        return Case(action, origin, self.policy.places, lambda path: self._write(path, origin), self._hides_keys)

    def _write(self, path: str, origin: Origin) -> Verdict:
        verdict = writing(path, origin.workspace, self.policy.places)
        if verdict.rule == "outside" and self._is_private(path):
            return SCRATCH
        if verdict.decision == ALLOW and (why := self._not_undoable(path)):
            return Verdict(ASK, "not-undoable", why)
        return verdict

    def _call(self, action: CallServer, origin: Origin) -> Verdict:
        called = f"{action.server}'s {action.tool}"
        match self.policy.servers.get(action.server):
            case "allow":
                return Verdict(ALLOW, "server-allowed")
            case _ if self._is_changed(action):
                return Verdict(
                    ASK, "server-changed", f"{called} describes itself otherwise than when it was first used"
                )
            case "ask":
                return Verdict(ASK, "server-asks", f"the settings say to ask before {called}")
            case None if action.read_only:
                return Verdict(ALLOW, "server-reads")
            case None if _is_asked_for(action, origin):
                return Verdict(ALLOW, "said", "it is what the person said to do")
            case None:
                return _unless_foreign(self._heard_about(action, origin), "server-sends", called)

    def _keep(self, action: Persist, origin: Origin) -> Verdict:
        described = [f"mcp:{server}" for server, _ in self._described()]
        if action.stage == "draft":
            return Verdict(ALLOW, "draft", "a draft has no effect until it is adopted")
        if action.stage == "adoption" and not origin.untrusted and not described:
            return Verdict(ALLOW, "adoption", "only the workspace could have had a say in it")
        if _is_asked_for(action, origin):
            return Verdict(ALLOW, "said", "it is what the person said to keep")
        return _unless_foreign(self._heard(origin), "persist", f"keeping {action.what}")

    def _heard(self, origin: Origin) -> list[str]:
        """Whatever has spoken to the model besides the person and Hermes: from elsewhere first, then from the workspace."""
        described = (f"mcp:{server}" for server, _ in self._described())
        return list(dict.fromkeys([*origin.untrusted, *origin.local, *described]))

    def _heard_about(self, action: CallServer, origin: Origin) -> list[str]:
        """The same for a call of a server: not what it says itself, and of others' descriptions those that speak of the call."""
        from hermes.safety.provenance import names

        naming = (f"mcp:{server}" for server, text in self._described() if names(text, action))
        heard = dict.fromkeys([*origin.untrusted, *origin.local, *naming])
        return [source for source in heard if source not in (action.server, f"mcp:{action.server}")]

    def _is_changed(self, action: CallServer) -> bool:
        if self._contracts is None or not action.contract:
            return False
        return self._contracts.is_changed(action.server, action.tool, action.contract)


def _is_asked_for(action: Persist | SendMessage | CallServer, origin: Origin) -> bool:
    # Its patterns take milliseconds to be made, and many a session keeps and sends nothing.
    from hermes.safety.provenance import is_asked_for

    return is_asked_for(action, origin.said)


def _unless_foreign(heard: Sequence[str], rule: str, what: str) -> Verdict:
    """Allow what reaches beyond the session, unless a text that is not the person's may be what caused it."""
    if not heard:
        return Verdict(ALLOW, rule)
    return Verdict(ASK, rule, f"{what} may be the idea of {', '.join(heard[:3])}, not yours")


def _without_content(action: Action) -> Action:
    """What "for this session" covers: the same recipient, place or tool, whatever is sent there."""
    match action:
        case CallServer():
            return msgspec.structs.replace(action, args="")
        case SendMessage():
            return msgspec.structs.replace(action, content="")
        case Persist():
            return msgspec.structs.replace(action, content="")
        case _:
            return action
