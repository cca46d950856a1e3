"""The contract in sandboxes of Daytona, against a fake of its HTTP API: the real one was never asked."""

import shutil
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes.config import load
from hermes.protocol.errors import UserError
from hermes.terminals.backends.daytona import Api, DaytonaPlace, Sandbox, open_daytona
from hermes.terminals.remote.files import RemoteFiles
from hermes.terminals.remote.terminal import RemoteTerminal
from tests.services.daytona_api import KEY, DaytonaApi
from tests.terminals.conftest import until
from tests.terminals.contract import Stage, TerminalContract
from tests.terminals.servers import short_folder

pytestmark = pytest.mark.needs("bwrap")


@pytest.fixture(scope="module")
async def api() -> AsyncIterator[DaytonaApi]:
    async with DaytonaApi(short_folder()) as one:
        yield one
    shutil.rmtree(one.folder)


def place(api: DaytonaApi, sandbox: Sandbox) -> DaytonaPlace:
    return DaytonaPlace(sandbox, Api(api.url, KEY))


@pytest.fixture(scope="module")
async def stage(api: DaytonaApi) -> AsyncIterator[Stage]:
    made: list[str] = []

    def make(idle: float = 300.0) -> tuple[RemoteTerminal, RemoteFiles]:
        sandbox = Sandbox(image="debian", task=f"task {len(made)}")
        made.append(sandbox.name)
        terminal = RemoteTerminal(place(api, sandbox), idle=idle)
        return terminal, RemoteFiles(terminal)

    async def awake() -> bool:
        return api.sandboxes[made[-1]].state == "started"

    one = Stage(make, str(api.seen_at), cut=api.cut, awake=awake, survives_cuts=True, has_screen=False)
    yield one
    await one.terminal.close()


class TestDaytona(TerminalContract):
    pass


async def test_files_outlive_the_session_in_a_sandbox_that_is_stopped(api: DaytonaApi) -> None:
    sandbox = Sandbox(image="debian", task="stopped", cpu=0.5, memory=1500, disk=20_480, network=False, target="eu")
    first = RemoteTerminal(place(api, sandbox))
    await first.run("echo kept >file", timeout=20)
    assert api.sandboxes[sandbox.name].wanted == {
        "name": sandbox.name,
        "labels": {"hermes.task": "stopped"},
        "buildInfo": {"dockerfileContent": "FROM debian\n"},
        "cpu": 1,
        "memory": 2,
        "disk": 10,
        "networkBlockAll": True,
        "autoStopInterval": 60,
        "target": "eu",
    }
    await first.close()
    assert api.sandboxes[sandbox.name].state == "stopped"
    second = RemoteTerminal(place(api, sandbox))
    assert (await second.run("cat file", timeout=20)).output == "kept\n"
    await second.close()


async def test_a_sandbox_that_daytona_stopped_is_started_again(api: DaytonaApi) -> None:
    sandbox = Sandbox(image="debian", task="stopped by others")
    terminal = RemoteTerminal(place(api, sandbox))
    await terminal.run("echo kept >file; export KEPT=yes", timeout=20)
    api.sandboxes[sandbox.name].stop()
    api.sandboxes[sandbox.name].state = "stopped"
    assert (await terminal.run("cat file; echo $KEPT", timeout=20)).output == "kept\nyes\n"
    await terminal.close()


async def test_what_is_not_persistent_is_deleted_with_the_session(api: DaytonaApi) -> None:
    sandbox = Sandbox(image="debian", task="passing", persistent=False)
    terminal = RemoteTerminal(place(api, sandbox))
    await terminal.run("echo kept >file", timeout=20)
    await terminal.place.rest()
    assert (await terminal.run("cat file", timeout=20)).output == "kept\n"
    await terminal.close()
    assert sandbox.name not in api.sandboxes


async def test_a_sandbox_of_somebody_else_is_not_used(api: DaytonaApi) -> None:
    sandbox = Sandbox(image="debian", task="mine")
    first = RemoteTerminal(place(api, sandbox))
    await first.run("true", timeout=20)
    await first.close()
    api.sandboxes[sandbox.name].wanted["labels"] = {}
    second = RemoteTerminal(place(api, sandbox))
    with pytest.raises(UserError, match="is not Hermes' own"):
        await second.run("true", timeout=20)
    await second.close()


async def test_screens_are_not_left_behind(api: DaytonaApi) -> None:
    sandbox = Sandbox(image="debian", task="screens")
    terminal = RemoteTerminal(place(api, sandbox))
    for _ in range(3):
        await terminal.run("true", timeout=20)
    screens = api.sandboxes[sandbox.name].screens
    await until(lambda: len([one for one in screens.values() if one.process.poll() is None]) <= 2)
    await terminal.close()


async def test_a_key_or_an_image_that_daytona_does_not_know_is_one_line(api: DaytonaApi) -> None:
    stranger = DaytonaPlace(Sandbox(image="debian", task="stranger"), Api(api.url, "wrong"))
    with pytest.raises(UserError, match=r"^daytona does not accept the key: Invalid credentials$") as raised:
        await RemoteTerminal(stranger).run("true", timeout=20)
    assert "DAYTONA_API_KEY" in raised.value.hint
    await stranger.close()
    unknown = place(api, Sandbox(image="no-such-image", task="no image"))
    with pytest.raises(UserError, match=r"^daytona: the sandbox failed: manifest unknown$") as raised:
        await RemoteTerminal(unknown).run("true", timeout=20)
    assert "terminal.image" in raised.value.hint
    await unknown.close()


def test_without_a_key_the_person_is_told_where_to_put_one(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path), "HERMES_HOME": str(tmp_path)}
    with pytest.raises(UserError, match="needs a key") as raised:
        open_daytona(load(home), "session", str(tmp_path), {})
    assert "DAYTONA_API_KEY" in raised.value.hint
    terminal, _ = open_daytona(load({**home, "DAYTONA_API_KEY": KEY}), "session", str(tmp_path), {})
    assert (terminal.kind, terminal.cwd) == ("daytona", "~")


WITHOUT_PACKAGE = """
import sys
sys.modules["wsproto"] = None
from hermes.config import load
from hermes.protocol.errors import UserError
from hermes.terminals.backends.daytona import open_daytona
try:
    open_daytona(load({"HOME": sys.argv[1], "DAYTONA_API_KEY": "key"}), "session", "/", {})
except UserError as error:
    print(f"{error} ({error.hint})")
"""


def test_without_its_package_the_person_is_told_what_to_install(tmp_path: Path) -> None:
    said = subprocess.run([sys.executable, "-c", WITHOUT_PACKAGE, tmp_path], capture_output=True, text=True)
    assert said.stdout == (
        "the daytona terminal needs a package that is not installed (pip install 'hermes-courier[daytona]')\n"
    )
