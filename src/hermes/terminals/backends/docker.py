"""Commands in a container, through the docker or podman command: one container per task, found again by its label."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from typing import NoReturn

from msgspec import Struct

from hermes.config import Settings
from hermes.protocol.errors import TerminalError, UserError
from hermes.terminals.remote.client import Client, Done, ask, find_program
from hermes.terminals.remote.commands import SCREEN
from hermes.terminals.remote.files import RemoteFiles
from hermes.terminals.remote.place import Take
from hermes.terminals.remote.terminal import RemoteTerminal

LABEL = "hermes.task"
WORKSPACE = "/workspace"
SECONDS = 60.0
PULL_SECONDS = 900.0

# The first process: it ends at once when it is told to, and reaps what others leave behind.
_FIRST = ("sh", "-c", 'trap "exit 0" TERM INT; while :; do sleep 3600 & wait $!; done')

# What its root may do is what it may do to files.
_CAPABILITIES = ("DAC_OVERRIDE", "CHOWN", "FOWNER")

_INSTALL = "install Docker or Podman (Debian: apt install podman), or hermes config set terminal.backend local"
_LASTING = {
    "permission denied while trying to connect": "add yourself to the group docker, or use podman",
    "Cannot connect to the Docker daemon": "start Docker, or use podman: hermes config set terminal.backend podman",
    "no such image": "hermes config set terminal.image NAME",
    "manifest unknown": "hermes config set terminal.image NAME",
    "initializing source": "check the network, or name another: hermes config set terminal.image NAME",
    "short-name": "write the image with its host: hermes config set terminal.image docker.io/NAME",
}


class Container(Struct, frozen=True, kw_only=True):
    """What a container is made of; one that is not `persistent` is removed when it is closed."""

    image: str
    task: str
    cpu: float = 1
    memory: int = 5120
    network: bool = True
    persistent: bool = True
    workspace: str = ""
    volumes: tuple[str, ...] = ()
    extra_args: tuple[str, ...] = ()

    def options(self) -> list[str]:
        """The words of `run` that lock it up."""
        words = ["--cap-drop=ALL", *(f"--cap-add={name}" for name in _CAPABILITIES)]
        words += ["--security-opt=no-new-privileges", "--pids-limit=256", "--tmpfs=/tmp:rw,size=512m,mode=1777"]
        words += [f"--cpus={self.cpu:g}"] if self.cpu else []
        words += [f"--memory={self.memory}m"] if self.memory else []
        words += [] if self.network else ["--network=none"]
        words += [f"--volume={self.workspace}:{WORKSPACE}"] if self.workspace else []
        words += [f"--volume={volume}" for volume in self.volumes]
        return [*words, "--workdir=/", *self.extra_args]


class DockerPlace:
    """A container that is made when it is needed, and stopped while nobody needs it."""

    folder = WORKSPACE
    login = False

    def __init__(self, kind: str, programs: Sequence[str], container: Container, env: Mapping[str, str]) -> None:
        self.kind = kind
        self._program = find_program(programs, env, f"the {kind} terminal", _INSTALL)
        self._container = container
        self._env = {**env, "TERM": SCREEN}
        self.name = f"hermes-{hashlib.sha256(container.task.encode()).hexdigest()[:12]}"
        self._up = False

    async def open(self) -> None:
        """Have the container running: the one with our label, started again if it was stopped, or a new one."""
        if self._up:
            return
        state = await self._state()
        if state not in ("running", "", "created", "exited", "stopped", "configured"):
            # Paused, dead, or half removed: not one to go on with.
            await self._must("rm", "--force", self.name)
            state = ""
        if not state:
            await self._make()
        elif state != "running":
            await self._must("start", self.name)
        self._up = True

    async def start(self, argv: Sequence[str], output: Take, errors: Take) -> Client:
        return Client([self._program, "exec", "-i", self.name, *argv], self._env, output, errors)

    def on_screen(self, argv: Sequence[str]) -> tuple[Sequence[str], dict[str, str]]:
        return [self._program, "exec", "-it", self.name, *argv], self._env

    def doubt(self) -> None:
        self._up = False

    async def rest(self) -> None:
        if self._up:
            self._up = False
            await self._must("stop", "--time=5", self.name)

    async def close(self) -> None:
        """Stop a persistent container, whose files stay; remove any other."""
        if self._container.persistent:
            await self.rest()
        elif self._up:
            self._up = False
            await self._must("rm", "--force", self.name)

    async def _state(self) -> str:
        """What there is: a container of our name that somebody else made is not ours to use."""
        form = '{{.State.Status}} {{index .Config.Labels "' + LABEL + '"}}'
        done = await self._ask("container", "inspect", f"--format={form}", self.name)
        if done.code != 0:
            if "no such container" in done.complaint.lower():
                return ""
            self._fail(done)
        state, _, task = done.output.strip().partition(" ")
        if task != self._container.task:
            raise UserError(f"the container {self.name} is not Hermes' own", f"remove it: {self.kind} rm {self.name}")
        return state

    async def _make(self) -> None:
        label = f"--label={LABEL}={self._container.task}"
        words = ["run", "--detach", f"--name={self.name}", label, *self._container.options()]
        done = await self._ask(*words, "--entrypoint=", self._container.image, *_FIRST, timeout=PULL_SECONDS)
        if done.code != 0:
            self._fail(done)
        await self._must("exec", self.name, "mkdir", "-p", WORKSPACE)

    async def _must(self, *words: str) -> None:
        done = await self._ask(*words)
        if done.code != 0:
            self._fail(done)

    async def _ask(self, *words: str, timeout: float = SECONDS) -> Done:
        return await ask([self._program, *words], self._env, timeout)

    def _fail(self, done: Done) -> NoReturn:
        for sign, hint in _LASTING.items():
            if sign.lower() in done.complaint.lower():
                raise UserError(f"{self.kind}: {done.complaint}", hint)
        raise TerminalError(done.complaint or f"{self.kind} ended with code {done.code}")


def open_docker(
    settings: Settings, session: str, cwd: str, env: Mapping[str, str]
) -> tuple[RemoteTerminal, RemoteFiles]:
    """A container of docker, or of podman where that is what there is."""
    return _open("docker", ("docker", "podman"), settings, session, cwd, env)


def open_podman(
    settings: Settings, session: str, cwd: str, env: Mapping[str, str]
) -> tuple[RemoteTerminal, RemoteFiles]:
    return _open("podman", ("podman",), settings, session, cwd, env)


def _open(
    kind: str, programs: Sequence[str], settings: Settings, session: str, cwd: str, env: Mapping[str, str]
) -> tuple[RemoteTerminal, RemoteFiles]:
    wanted = settings.file.terminal
    container = Container(
        image=wanted.image,
        task=session,
        cpu=wanted.container_cpu,
        memory=wanted.container_memory,
        network=wanted.docker_network,
        persistent=wanted.container_persistent,
        workspace=os.path.realpath(cwd) if wanted.docker_mount_cwd else "",
        volumes=wanted.docker_volumes,
        extra_args=wanted.docker_extra_args,
    )
    place = DockerPlace(kind, programs, container, env)
    forwarded = {name: settings.environ[name] for name in wanted.docker_forward_env if name in settings.environ}
    terminal = RemoteTerminal(
        place, exports=forwarded, name=session, cap=settings.file.tool_output.max_bytes, idle=wanted.lifetime_seconds
    )
    return terminal, RemoteFiles(terminal)
