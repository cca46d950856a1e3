"""A made-up machine for the gate's tests: a home, a working folder in it, and Hermes' own home."""

from pathlib import Path
from typing import Any

from hermes.protocol.actions import Action, Origin, RunCommand, Verdict
from hermes.safety.commands.grants import Grant
from hermes.safety.gate import Gate, Policy
from hermes.safety.places import Places

NOBODY = "/home/nobody-of-this-machine"
WORKSPACE = f"{NOBODY}/project"
OWN = f"{NOBODY}/.hermes"
PLACES = Places(home=OWN, user_home=NOBODY)
ORIGIN = Origin(surface="cli", session="one", workspace=WORKSPACE)


def make_gate(always: list[Grant] | None = None, places: Places = PLACES, **settings: Any) -> Gate:
    policy = Policy(places=places, **settings)
    return Gate(policy, always=(always if always is not None else []).append)


def judge(command: str, cwd: str = WORKSPACE, origin: Origin = ORIGIN, **settings: Any) -> Verdict:
    return make_gate(**settings).judge(RunCommand(command, cwd), origin)


def decide(action: Action, **settings: Any) -> str:
    return make_gate(**settings).judge(action, ORIGIN).decision


def real_places(tmp_path: Path) -> tuple[Places, Path]:
    """A home that exists, with a working folder in it."""
    home = tmp_path.resolve() / "home"
    workspace = home / "project"
    workspace.mkdir(parents=True)
    return Places(home=str(home / ".hermes"), user_home=str(home)), workspace
