"""Commands in a container of Apptainer (once called Singularity): no daemon, no root, an overlay that keeps what is written."""

import hashlib
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from hermes.config import Settings
from hermes.protocol.errors import TerminalError, UserError
from hermes.terminals.remote.client import Client, ask, find_program
from hermes.terminals.remote.commands import SCREEN
from hermes.terminals.remote.files import RemoteFiles
from hermes.terminals.remote.place import Take
from hermes.terminals.remote.terminal import RemoteTerminal

WORKSPACE = "/workspace"
SECONDS = 60.0
BUILD_SECONDS = 1800.0

_INSTALL = "install Apptainer (apptainer.org says how), or hermes config set terminal.backend local"


class SingularityPlace:
    """An instance of an image: a SIF file, a folder, or an address such as docker://debian, which is built once.

    What is written lands in a folder below `keep`, or nowhere if that is empty.
    """

    folder = WORKSPACE
    login = False
    kind = "singularity"

    def __init__(
        self,
        image: str,
        task: str,
        env: Mapping[str, str],
        *,
        cache: Path,
        keep: Path | None = None,
    ) -> None:
        self._program = find_program(["apptainer", "singularity"], env, "the singularity terminal", _INSTALL)
        self._image = image
        self._env = {**env, "TERM": SCREEN}
        self._cache = cache
        self.name = f"hermes-{hashlib.sha256(task.encode()).hexdigest()[:12]}"
        self._overlay = keep / self.name if keep else None
        self._up = False

    async def open(self) -> None:
        """Have the instance running, with an image that is on this disk."""
        if self._up:
            return
        # One that is on its way out is still listed: only an answer counts.
        if (await ask([self._program, *self._inside(), "true"], self._env, SECONDS)).code != 0:
            image = await self._built()
            await ask(
                [self._program, "instance", "stop", "--signal=KILL", "--timeout=2", self.name], self._env, SECONDS
            )
            words = ["instance", "start", "--containall", "--no-home", "--no-privs"]
            words += ["--overlay", self._made(self._overlay)] if self._overlay else ["--writable-tmpfs"]
            await self._must(SECONDS, *words, image, self.name)
            await self._must(SECONDS, *self._inside(), "mkdir", "-p", WORKSPACE)
        self._up = True

    async def start(self, argv: Sequence[str], output: Take, errors: Take) -> Client:
        return Client([self._program, *self._inside(), *argv], self._env, output, errors)

    def on_screen(self, argv: Sequence[str]) -> None:
        """It has none of its own: on ours, Control-C would end apptainer before the program could react."""

    def doubt(self) -> None:
        self._up = False

    async def rest(self) -> None:
        if self._up:
            self._up = False
            await self._must(SECONDS, "instance", "stop", "--timeout=2", self.name)

    async def close(self) -> None:
        await self.rest()

    def _inside(self) -> tuple[str, ...]:
        return "exec", "--no-privs", f"instance://{self.name}"

    async def _built(self) -> str:
        """The image as a file; an address is fetched and built once, and then lies in the cache."""
        if "://" not in self._image:
            if not os.path.exists(self._image):
                raise UserError(f"there is no image {self._image}", "hermes config set terminal.image FILE")
            return self._image
        file = self._cache / f"{hashlib.sha256(self._image.encode()).hexdigest()[:16]}.sif"
        if not file.exists():
            self._made(self._cache)
            unfinished = file.with_suffix(".unfinished")
            await self._must(BUILD_SECONDS, "build", "--force", str(unfinished), self._image)
            unfinished.replace(file)
        return str(file)

    def _made(self, folder: Path) -> str:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        return str(folder)

    async def _must(self, seconds: float, *words: str) -> None:
        done = await ask([self._program, *words], self._env, seconds)
        if done.code != 0:
            raise TerminalError(done.complaint or f"apptainer {words[0]} ended with code {done.code}")


def open_singularity(
    settings: Settings, session: str, cwd: str, env: Mapping[str, str]
) -> tuple[RemoteTerminal, RemoteFiles]:
    """An instance for this session; the image may be written as for docker."""
    wanted = settings.file.terminal
    image = os.path.expanduser(wanted.image)
    if "://" not in image and not image.endswith(".sif") and not os.path.isdir(image):
        image = f"docker://{image}"
    place = SingularityPlace(
        image,
        session,
        env,
        cache=settings.home / "cache" / "images",
        keep=settings.home / "cache" / "overlays" if wanted.container_persistent else None,
    )
    terminal = RemoteTerminal(
        place, name=session, cap=settings.file.tool_output.max_bytes, idle=wanted.lifetime_seconds
    )
    return terminal, RemoteFiles(terminal)
