"""The contract in sandboxes of Modal, by Modal's own package, against a fake of its API: the real one was never asked."""

import asyncio
import shutil
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from hermes.config import load
from hermes.protocol.errors import UserError
from hermes.terminals.backends.modal import ModalPlace, Sandbox, Token, open_modal
from hermes.terminals.remote.files import RemoteFiles
from hermes.terminals.remote.terminal import RemoteTerminal
from tests.services.modal_api import TOKEN, ModalApi
from tests.terminals.contract import Stage, TerminalContract
from tests.terminals.servers import short_folder

pytestmark = pytest.mark.needs("bwrap")


@pytest.fixture(scope="module")
async def api() -> AsyncIterator[ModalApi]:
    async with ModalApi(short_folder()) as one:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("MODAL_SERVER_URL", one.url)
            patch.setenv("MODAL_CONFIG_PATH", str(one.folder / "modal.toml"))
            yield one
    shutil.rmtree(one.folder)


def wanted(api: ModalApi, task: str) -> Sandbox:
    return Sandbox(image="debian", task=task, keep=api.folder / "kept", folder=str(api.seen_at))


@pytest.fixture(scope="module")
async def stage(api: ModalApi) -> AsyncIterator[Stage]:
    made: list[str] = []

    def make(idle: float = 300.0) -> tuple[RemoteTerminal, RemoteFiles]:
        sandbox = wanted(api, f"task {len(made)}")
        made.append(sandbox.name)
        terminal = RemoteTerminal(ModalPlace(sandbox, Token(*TOKEN)), idle=idle)
        return terminal, RemoteFiles(terminal)

    async def awake() -> bool:
        return api.running(made[-1]) is not None

    one = Stage(make, str(api.seen_at), cut=api.lose_programs, awake=awake, survives_cuts=True, has_screen=False)
    yield one
    await one.terminal.close()


class TestModal(TerminalContract):
    pass


async def test_files_outlive_the_sandbox_in_a_snapshot(api: ModalApi) -> None:
    sandbox = replace(wanted(api, "snapshot"), cpu=0.5, memory=256, network=False)
    first = RemoteTerminal(ModalPlace(sandbox, Token(*TOKEN)))
    await first.run("mkdir sub; echo kept >sub/file; chmod 751 sub/file", timeout=20)
    running = api.running(sandbox.name)
    assert running
    made = running.definition
    assert (made.resources.milli_cpu, made.resources.memory_mb, made.network_access.network_access_type) == (
        500,
        256,
        2,
    )
    await first.close()
    assert api.running(sandbox.name) is None
    assert not running.machine.disk.exists()

    second = RemoteTerminal(ModalPlace(sandbox, Token(*TOKEN)))
    assert (await second.run("cat sub/file; stat -c %a sub/file", timeout=20)).output == "kept\n751\n"
    await second.close()


async def test_a_sandbox_that_modal_ended_is_made_again_from_the_last_snapshot(api: ModalApi) -> None:
    sandbox = wanted(api, "ended")
    terminal = RemoteTerminal(ModalPlace(sandbox, Token(*TOKEN)))
    await terminal.run("echo old >file", timeout=20)
    await terminal.place.rest()
    await terminal.run("echo new >file; export KEPT=yes", timeout=20)
    await api.end(sandbox.name)
    assert (await terminal.run("cat file; echo $KEPT", timeout=20)).output == "old\nyes\n"
    await terminal.close()


async def test_a_snapshot_that_is_gone_does_not_stop_the_work(api: ModalApi) -> None:
    sandbox = wanted(api, "gone")
    terminal = RemoteTerminal(ModalPlace(sandbox, Token(*TOKEN)))
    await terminal.run("echo old >file", timeout=20)
    await terminal.place.rest()
    api.snapshots.clear()
    assert (await terminal.run("ls; echo works", timeout=20)).output == "works\n"
    await terminal.close()


async def test_what_is_not_persistent_survives_a_rest_but_not_the_session(api: ModalApi) -> None:
    sandbox = replace(wanted(api, "passing"), keep=None)
    first = RemoteTerminal(ModalPlace(sandbox, Token(*TOKEN)))
    await first.run("echo kept >file", timeout=20)
    await first.place.rest()
    assert (await first.run("cat file", timeout=20)).output == "kept\n"
    await first.close()
    second = RemoteTerminal(ModalPlace(sandbox, Token(*TOKEN)))
    assert (await second.run("ls", timeout=20)).output == ""
    await second.close()


async def test_a_token_or_an_image_that_modal_does_not_know_is_one_line(api: ModalApi) -> None:
    with pytest.raises(UserError, match=r"^modal does not accept the token: [^\n]+$") as raised:
        await RemoteTerminal(ModalPlace(wanted(api, "stranger"), Token("ak-x", "as-x"))).run("true", timeout=20)
    assert "MODAL_TOKEN_ID" in raised.value.hint
    unknown = replace(wanted(api, "no image"), image="no-such-image")
    with pytest.raises(UserError, match=r"^modal: Image build [^\n]+$") as raised:
        await RemoteTerminal(ModalPlace(unknown, Token(*TOKEN))).run("true", timeout=20)
    assert "terminal.image" in raised.value.hint


def test_without_a_token_the_person_is_told_where_to_put_one(tmp_path: Path) -> None:
    settings = load({"HOME": str(tmp_path), "HERMES_HOME": str(tmp_path)})
    with pytest.raises(UserError, match="needs a token") as raised:
        open_modal(settings, "session", str(tmp_path), {})
    assert raised.value.hint == "set MODAL_TOKEN_ID and MODAL_TOKEN_SECRET, or run: modal setup"
    (tmp_path / ".modal.toml").touch()
    terminal, _ = open_modal(settings, "session", str(tmp_path), {})
    assert (terminal.kind, terminal.cwd) == ("modal", "/workspace")


WITHOUT_PACKAGE = """
import asyncio, sys
from pathlib import Path
sys.modules["modal"] = None
from hermes.protocol.errors import UserError
from hermes.terminals.backends.modal import ModalPlace, Sandbox, Token
try:
    asyncio.run(ModalPlace(Sandbox(image="debian", task="task"), Token("id", "secret")).open())
except UserError as error:
    print(f"{error} ({error.hint})")
"""


async def test_without_its_package_the_person_is_told_what_to_install() -> None:
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", WITHOUT_PACKAGE, stdout=asyncio.subprocess.PIPE
    )
    said, _ = await process.communicate()
    assert said.decode() == (
        "the modal terminal needs Modal's package, which is not installed (pip install 'hermes-courier[modal]')\n"
    )
