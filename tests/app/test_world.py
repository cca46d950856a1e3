"""The world of a session on another machine, through a real sshd: its folder is learned once, and work in it is free."""

import os
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from hermes.agent.desk import Equipment, Scope
from hermes.app.world import LocalWorld, Teller
from hermes.config import SshSettings
from hermes.protocol.actions import Origin
from hermes.protocol.errors import Denied
from hermes.protocol.events import Answered, Request
from hermes.safety.gate import Gate, Policy
from hermes.safety.places import Places
from hermes.terminals.backends.ssh import SshPlace
from hermes.terminals.remote.files import RemoteFiles
from hermes.terminals.remote.terminal import RemoteTerminal
from tests.terminals.servers import Sshd, short_folder

pytestmark = pytest.mark.needs("ssh", "sshd")


class Stage:
    """A session whose terminal is elsewhere, with nobody to ask."""

    def __init__(self, sshd: Sshd, folder: str) -> None:
        env = {"PATH": os.environ["PATH"], "HOME": str(sshd.folder)}
        settings = SshSettings(host="127.0.0.1", port=sshd.port, key=str(sshd.key))
        self.terminal = RemoteTerminal(SshPlace(settings, env, folder, sshd.options))
        places = Places(home="/nonexistent/.hermes", user_home="/nonexistent")
        self.world = LocalWorld(
            self.terminal.cwd,
            self.terminal,
            RemoteFiles(self.terminal),
            Gate(Policy(places=places), always=lambda grant: None),
            None,
            Teller(),
            patience=1.0,
            recover=self._recover,
        )
        self.asked: list[Request] = []

    def equip(self) -> Equipment:
        origin = Origin(surface="test", session="s", workspace=self.world.workspace)
        return self.world.equip(Scope(origin, self._ask, lambda text: None))

    async def _ask(self, request: Request, timeout: float) -> Answered | None:
        self.asked.append(request)
        return None

    async def _recover(self) -> None:
        return None


@pytest.fixture(scope="module")
def sshd() -> Iterator[Sshd]:
    server = Sshd(short_folder())
    server.start()
    yield server
    server.stop()
    shutil.rmtree(server.folder)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder there that is named through a link."""
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    return tmp_path.resolve() / "real"


@pytest.fixture
async def stage(sshd: Sshd, folder: Path) -> AsyncIterator[Stage]:
    one = Stage(sshd, str(folder.parent / "link"))
    yield one
    await one.world.close()


async def test_writes_below_the_folder_there_run_and_others_ask(stage: Stage, folder: Path) -> None:
    files = stage.equip().files
    await files.write("sub/new.txt", b"new")
    assert ((folder / "sub/new.txt").read_bytes(), stage.asked) == (b"new", [])
    assert stage.world.workspace == str(folder)
    with pytest.raises(Denied, match=f"outside the working folder {folder}"):
        await files.write(str(folder.parent / "beside.txt"), b"x")
    with pytest.raises(Denied, match="run later"):
        await files.write(".git/hooks/pre-commit", b"x")
    assert sorted(path.name for path in folder.parent.iterdir()) == ["link", "real"]


async def test_the_folder_stays_the_one_that_it_began_in(stage: Stage, folder: Path) -> None:
    (folder / "sub").mkdir()
    ran = await stage.equip().terminal.run("cd sub && touch made.txt", timeout=20)
    assert (ran.code, stage.world.workspace, stage.terminal.cwd) == (0, str(folder), f"{folder}/sub")
    await stage.equip().files.write("../up.txt", b"x")
    assert ((folder / "up.txt").read_bytes(), stage.asked) == (b"x", [])


async def test_without_a_folder_it_is_the_home_there(sshd: Sshd) -> None:
    stage = Stage(sshd, "")
    try:
        assert stage.world.workspace == "~"
        await stage.equip().terminal.run("true", timeout=20)
        home = (await stage.terminal.run("cd && pwd -P", timeout=20)).output.strip()
        assert stage.world.workspace == home
        assert stage.asked == []
    finally:
        await stage.world.close()
