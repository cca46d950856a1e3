"""The contract in an instance of Apptainer, made of the same busybox as the other containers."""

import os
import shutil
import subprocess
import tarfile
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes.protocol.errors import UserError
from hermes.terminals.backends.singularity import SingularityPlace
from hermes.terminals.remote.files import RemoteFiles
from hermes.terminals.remote.terminal import RemoteTerminal
from tests.terminals.contract import Stage, TerminalContract
from tests.terminals.servers import short_folder, write_image


@pytest.fixture(scope="module")
async def stage() -> AsyncIterator[Stage]:
    folder = short_folder()
    image = unpacked(folder)
    env = {"PATH": os.environ["PATH"], "HOME": str(folder)}
    made: list[str] = []

    def make(idle: float = 300.0) -> tuple[RemoteTerminal, RemoteFiles]:
        made.append(f"task {len(made)} of {folder}")
        place = SingularityPlace(image, made[-1], env, cache=folder, keep=folder / "overlays")
        names.append(place.name)
        terminal = RemoteTerminal(place, idle=idle)
        return terminal, RemoteFiles(terminal)

    names: list[str] = []

    async def cut() -> None:
        subprocess.run(["apptainer", "instance", "stop", "--signal", "KILL", names[0]], env=env, capture_output=True)

    async def awake() -> bool:
        listed = subprocess.run(["apptainer", "instance", "list", names[-1]], env=env, capture_output=True, text=True)
        return names[-1] in listed.stdout

    one = Stage(make, "/workspace", cut=cut, awake=awake, has_bash=False, has_screen=False)
    yield one
    await one.terminal.close()
    shutil.rmtree(folder)


def unpacked(folder: Path) -> str:
    write_image(folder / "image.tar")
    with tarfile.open(folder / "image.tar") as archive:
        archive.extractall(folder / "image", filter="fully_trusted")
    words = ["apptainer", "build", "--sandbox", folder / "sandbox", folder / "image"]
    subprocess.run(words, env={"PATH": os.environ["PATH"], "HOME": str(folder)}, check=True, capture_output=True)
    return str(folder / "sandbox")


@pytest.mark.real
@pytest.mark.needs("apptainer", "busybox")
class TestSingularity(TerminalContract):
    pass


async def test_an_image_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "apptainer").write_text("#!/bin/sh\nexit 1\n")
    (tmp_path / "apptainer").chmod(0o755)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    terminal = RemoteTerminal(SingularityPlace(f"{tmp_path}/none.sif", "task", env, cache=tmp_path))
    with pytest.raises(UserError, match=r"there is no image .*/none\.sif$"):
        await terminal.run("true", timeout=20)
