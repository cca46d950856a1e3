"""A scratch home with keys in it, a working folder, and terminals held by each kind of sandbox."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Literal

import pytest

from hermes.safety.places import Places
from hermes.safety.sandbox.local import LocalSandbox, Wanted
from hermes.terminals.backends.local import LocalTerminal
from tests.terminals.conftest import nap

__all__ = ["nap"]

Kind = Literal["bubblewrap", "landlock", "off"]
CANARY = "canary-7f3a91"
KEYS = (
    "home/.ssh/id_rsa",
    "home/.netrc",
    "home/.aws/credentials",
    "home/.kube/config",
    "home/.docker/config.json",
    "home/.config/gcloud/credentials.db",
    "home/.config/gh/hosts.yml",
    "home/.config/google-chrome/Default/Login Data",
    "home/.mozilla/firefox/one.default/logins.json",
    "home/.gnupg/private-keys-v1.d/one.key",
    "home/.bash_history",
    "home/.git-credentials",
    "home/.hermes/.env",
    "home/.hermes/skills/one.md",
)
PLAIN = (
    "home/.bashrc",
    "home/.gitconfig",
    "home/letter.txt",
    "home/.hermes/config.yaml",
    "beside.txt",
    "other/.git/HEAD",
    "other/.git/config",
    "other/.git/hooks/pre-commit",
    "other/.git/objects/pack/one.pack",
)


class Scene:
    """A person's home and working folder, both without links, and terminals in them."""

    def __init__(self, folder: Path) -> None:
        self.home = folder / "home"
        self.own = self.home / ".hermes"
        self.work = folder / "work"
        for path in (self.home / ".config/systemd/user", self.work):
            path.mkdir(parents=True)
        for name in (*KEYS, *PLAIN):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(CANARY if name in KEYS else "as it was\n")
        (folder / "other/.git/refs").mkdir()
        (folder / "other/.git/HEAD").write_text("ref: refs/heads/main\n")
        (folder / "other/.git/config").write_text("[core]\n\trepositoryformatversion = 0\n")
        (self.home / ".gitconfig").write_text("[user]\n\tname = me\n\temail = me@example.com\n")
        self.env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}
        self.terminals: list[LocalTerminal] = []
        self.boxes: list[LocalSandbox] = []
        self.told: list[str] = []

    def sandbox(self, wanted: Wanted, workspace: Path | None = None) -> LocalSandbox:
        places = Places(home=str(self.own), user_home=str(self.home))
        folder = str(workspace or self.work)
        box = LocalSandbox(str(self.work), folder, places, self.env, wanted=wanted, tell=self.told.append)
        self.boxes.append(box)
        return box

    def terminal(
        self, kind: Kind, workspace: Path | None = None, *, network: bool = True, paths: tuple[str, ...] = ()
    ) -> LocalTerminal:
        box = self.sandbox(Wanted(kind, network, paths), workspace)
        terminal = LocalTerminal(str(workspace or self.work), self.env, sandbox=box, popen=box.popen)
        self.terminals.append(terminal)
        return terminal

    def files(self) -> dict[str, tuple[int, bytes]]:
        """What the person would miss: every file of the home but caches, and what lies beside the working folder."""
        home = self.work.parent
        skipped = (self.work, self.own / "sandbox", self.home / ".cache")
        return {
            str(path.relative_to(home)): (path.stat().st_mode, path.read_bytes())
            for path in sorted(home.rglob("*"))
            if path.is_file() and not any(path.is_relative_to(place) for place in skipped)
        }


@pytest.fixture
async def scene(tmp_path: Path) -> AsyncIterator[Scene]:
    one = Scene(tmp_path.resolve())
    yield one
    for terminal in one.terminals:
        await terminal.close()
    for box in one.boxes:
        box.close()


@pytest.fixture(params=[pytest.param("bubblewrap", marks=pytest.mark.needs("bwrap")), "landlock"])
def held(request: pytest.FixtureRequest) -> Kind:
    """Each kind of sandbox."""
    return request.param
