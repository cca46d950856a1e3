"""The contract in containers: by the podman command, and by the docker command on podman's API."""

import asyncio
import json
import shutil
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from hermes.protocol.errors import UserError
from hermes.terminals.backends.docker import Container, DockerPlace
from hermes.terminals.remote.files import RemoteFiles
from hermes.terminals.remote.terminal import RemoteTerminal
from tests.terminals.contract import Stage, TerminalContract
from tests.terminals.servers import IMAGE, Podman, short_folder

PODMAN = pytest.param("podman", marks=pytest.mark.needs("podman", "runc", "busybox"))
DOCKER = pytest.param("docker", marks=pytest.mark.needs("docker", "podman", "runc", "busybox"))


@pytest.fixture(scope="module")
def podman() -> Iterator[Podman]:
    folder = short_folder()
    one = Podman(folder)
    one.make_image()
    yield one
    one.remove()
    shutil.rmtree(folder)


@pytest.fixture(scope="module", params=[PODMAN, DOCKER])
def way(request: pytest.FixtureRequest, podman: Podman) -> Iterator[tuple[str, dict[str, str]]]:
    """The program, and the environment that leads it to the test's own containers."""
    if request.param == "podman":
        yield "podman", podman.env
    else:
        with podman.service() as env:
            yield "docker", env


@pytest.fixture(scope="module")
async def stage(way: tuple[str, dict[str, str]], podman: Podman) -> AsyncIterator[Stage]:
    program, env = way
    made = 0

    def make(idle: float = 300.0) -> tuple[RemoteTerminal, RemoteFiles]:
        nonlocal made
        made += 1
        container = Container(image=IMAGE, task=f"{program} {made}", memory=512, network=False)
        place = DockerPlace(program, [program], container, env)
        names.append(place.name)
        terminal = RemoteTerminal(place, idle=idle)
        return terminal, RemoteFiles(terminal)

    names: list[str] = []

    async def cut() -> None:
        await asyncio.to_thread(podman, "kill", names[0])

    async def awake() -> bool:
        state = await asyncio.to_thread(podman, "inspect", "--format={{.State.Status}}", names[-1])
        return state == "running"

    one = Stage(make, "/workspace", cut=cut, awake=awake, has_bash=False)
    yield one
    await one.terminal.close()


class TestContainer(TerminalContract):
    pass


@pytest.mark.needs("podman", "runc", "busybox")
async def test_a_container_is_locked_up(podman: Podman, tmp_path: Path) -> None:
    container = Container(
        image=IMAGE, task="locked up", cpu=0.5, memory=256, network=False, persistent=False, workspace=str(tmp_path)
    )
    place = DockerPlace("podman", ["podman"], container, podman.env)
    terminal = RemoteTerminal(place, exports={"GIVEN": "two words"})
    (tmp_path / "mounted").write_text("yes")
    ran = await terminal.run('cat mounted; echo " $GIVEN"; ls /sys/class/net; df -m /tmp | tail -n1', timeout=20)
    assert ran.output.splitlines()[:2] == ["yes two words", "lo"]
    assert ran.output.split()[-5] == "512"
    [found] = json.loads(podman("inspect", place.name))
    host = found["HostConfig"]
    assert sorted(found["EffectiveCaps"]) == ["CAP_CHOWN", "CAP_DAC_OVERRIDE", "CAP_FOWNER"]
    assert (host["PidsLimit"], host["Memory"], host["NanoCpus"]) == (256, 256 << 20, 500_000_000)
    assert "no-new-privileges" in host["SecurityOpt"]
    await terminal.close()
    assert podman("ps", "--all", "--quiet", "--filter", f"name={place.name}") == ""


@pytest.mark.needs("podman", "runc", "busybox")
async def test_a_container_is_found_again_by_its_task_and_never_a_foreign_one(podman: Podman) -> None:
    container = Container(image=IMAGE, task="again", memory=0, cpu=0, network=False)
    first = RemoteTerminal(DockerPlace("podman", ["podman"], container, podman.env))
    await first.run("echo kept >file", timeout=20)
    await first.close()
    place = DockerPlace("podman", ["podman"], container, podman.env)
    assert podman("inspect", "--format={{.State.Status}}", place.name) == "exited"
    second = RemoteTerminal(place)
    assert (await second.run("cat file", timeout=20)).output == "kept\n"
    await second.close()

    podman("rm", place.name)
    podman("create", f"--name={place.name}", IMAGE, "sh")
    with pytest.raises(UserError, match="is not Hermes' own"):
        await RemoteTerminal(place).run("true", timeout=20)


@pytest.mark.needs("podman", "runc", "busybox")
async def test_an_image_that_is_not_there_is_one_line(podman: Podman) -> None:
    container = Container(image="localhost/no-such-image", task="none")
    terminal = RemoteTerminal(DockerPlace("podman", ["podman"], container, podman.env))
    with pytest.raises(UserError, match=r"^podman: [^\n]*no-such-image[^\n]*$") as raised:
        await terminal.run("true", timeout=20)
    assert "terminal.image NAME" in raised.value.hint
