"""The contract of every terminal, kept inside the sandbox too."""

import os
import time
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes.protocol.errors import TerminalError
from hermes.protocol.terminals import ProcessInfo
from hermes.safety.places import Places
from hermes.safety.sandbox.local import LocalSandbox, Wanted
from hermes.terminals.backends.local import LocalTerminal
from hermes.terminals.files import LocalFiles
from tests.terminals.conftest import sleepers, until
from tests.terminals.contract import Scene, Stage, TerminalContract


@pytest.fixture(scope="module")
async def stage(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Stage]:
    base = tmp_path_factory.mktemp("sandboxed").resolve()
    folder, home = base / "work", base / "home"
    (home / ".hermes").mkdir(parents=True)
    folder.mkdir()
    env = {"PATH": os.environ["PATH"], "HOME": str(folder), "LANG": "C.UTF-8"}
    places = Places(home=str(home / ".hermes"), user_home=str(home))

    def make() -> tuple[LocalTerminal, LocalFiles]:
        box = LocalSandbox("contract", str(folder), places, env, wanted=Wanted("bubblewrap"))
        terminal = LocalTerminal(str(folder), env, sandbox=box)
        return terminal, LocalFiles(lambda: terminal.cwd, env)

    one = Stage(make, str(Path(folder)))
    yield one
    await one.terminal.close()


@pytest.mark.needs("bwrap")
class TestSandboxed(TerminalContract):
    """Two things are otherwise: what a command leaves running ends with it, and a SIGTERM ends bubblewrap itself."""

    async def test_a_process_left_behind_does_not_hold_the_call(self, scene: Scene, nap: str) -> None:
        began = time.monotonic()
        assert await scene.said(f"echo one; sleep {nap} &") == ("one\n", 0)
        assert time.monotonic() - began < 3
        await until(lambda: not sleepers(nap))

    async def test_closing_ends_every_process_and_then_nothing_runs(self, scene: Scene, nap: str) -> None:
        terminal, _ = scene.stage.make()
        ends: list[ProcessInfo] = []
        one = await terminal.start(f"setsid sleep {nap} & sleep {nap}", on_exit=ends.append)
        await until(lambda: len(sleepers(nap)) == 2)
        await terminal.close()
        assert (sleepers(nap), one.info.state, ends) == ([], "killed", [one.info])
        with pytest.raises(TerminalError, match="closed"):
            await terminal.run("true", timeout=20)

    async def test_killing_ends_the_whole_tree(self, scene: Scene, nap: str) -> None:
        one = await scene.terminal.start(f"trap '' TERM; setsid sleep {nap} & sleep {nap}")
        await until(lambda: len(sleepers(nap)) == 2)
        info = await one.kill()
        assert (info.state, info.code, sleepers(nap)) == ("killed", 143, [])
