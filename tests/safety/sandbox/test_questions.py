"""What the gate asks, and does not ask, because of what holds commands."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from hermes.protocol.actions import Action, Origin, RunCommand, WritePath
from hermes.safety.gate import Gate, Policy
from hermes.safety.places import Places
from hermes.safety.sandbox.local import LocalSandbox, Wanted
from tests.safety.sandbox.conftest import Kind, Scene

Decide = Callable[[Action], str]
SCRATCH = "/tmp/hermes-test-of-questions.txt"


def decider(scene: Scene, box: LocalSandbox) -> Decide:
    gate = Gate(
        Policy(places=Places(home=str(scene.own), user_home=str(scene.home))),
        always=lambda grant: None,
        is_private=box.is_private,
        hides_keys=box.hides_keys,
    )
    origin = Origin(surface="cli", session="s", workspace=str(scene.work))
    return lambda action: gate.judge(action, origin).decision


@pytest.fixture
def decide(scene: Scene) -> Decide:
    return decider(scene, scene.sandbox(Wanted("bubblewrap")))


@pytest.mark.needs("bwrap")
async def test_files_and_commands_write_temporary_files_alike(scene: Scene) -> None:
    terminal = scene.terminal("bubblewrap")
    decide = decider(scene, scene.boxes[-1])
    assert (await terminal.run(f"echo x > {SCRATCH}", timeout=20)).code == 0
    for action in (
        WritePath(SCRATCH),
        WritePath(SCRATCH, delete=True),
        WritePath("/var/tmp/new"),
        RunCommand(f"echo y > {SCRATCH}", str(scene.work)),
    ):
        assert decide(action) == "allow", action


@pytest.mark.needs("bwrap")
async def test_what_lies_in_the_real_temporary_folder_is_somebody_elses(scene: Scene, decide: Decide) -> None:
    theirs = str(scene.work.parent / "beside.txt")
    assert theirs.startswith("/tmp/")
    assert [decide(WritePath(theirs)), decide(RunCommand(f"echo x > {theirs}", str(scene.work)))] == ["ask", "ask"]


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize(
    ("command", "decision"),
    [
        ("git fetch", "ask"),
        ("git pull --rebase origin main", "ask"),
        ("git fetch mirror", "allow"),
        ("git clone git@git.example.org:me/x.git", "ask"),
        ("git clone ssh://git.example.org/me/x.git", "ask"),
        ("git clone https://git.example.org/me/x.git", "allow"),
        ("git submodule update --init", "ask"),
        ("git remote -v && git status && git log", "allow"),
    ],
)
async def test_git_asks_before_it_speaks_through_ssh(scene: Scene, decide: Decide, command: str, decision: str) -> None:
    subprocess.run(["git", "init", "-q", scene.work], check=True)
    for name, url in (("origin", "git@git.example.org:me/x.git"), ("mirror", "https://git.example.org/x")):
        subprocess.run(["git", "remote", "add", name, url], check=True, cwd=scene.work)
    assert decide(RunCommand(command, str(scene.work))) == decision


@pytest.mark.needs("bwrap")
@pytest.mark.parametrize(("kind", "paths"), [("off", ()), ("bubblewrap", ("~/.ssh",))])
async def test_where_ssh_finds_its_keys_git_need_not_ask(scene: Scene, kind: Kind, paths: tuple[str, ...]) -> None:
    decide = decider(scene, scene.sandbox(Wanted(kind, paths=paths)))
    assert decide(RunCommand("git clone git@git.example.org:me/x.git", str(scene.work))) == "allow"


async def test_a_home_without_keys_asks_nothing(scene: Scene, decide: Decide) -> None:
    (Path(scene.home) / ".ssh/id_rsa").unlink()
    (Path(scene.home) / ".ssh").rmdir()
    assert decide(RunCommand("git clone git@git.example.org:me/x.git", str(scene.work))) == "allow"
