"""Commands in a sandbox of Modal: ended while nobody needs it, and made again from a snapshot of its files."""

import asyncio
import hashlib
import importlib
import logging
from collections.abc import AsyncIterable, AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct

from hermes.config import Settings, write_private
from hermes.protocol.errors import TerminalError, UserError
from hermes.terminals.remote.files import RemoteFiles
from hermes.terminals.remote.place import Take
from hermes.terminals.remote.terminal import RemoteTerminal

if TYPE_CHECKING:
    import modal
    from modal.container_process import ContainerProcess

log = logging.getLogger(__name__)

APP = "hermes"
WORKSPACE = "/workspace"
LONGEST_LIFE = 24 * 3600
SNAPSHOT_SECONDS = 600
CHUNK = 256 * 1024
FAILED = 255

# The first process, which does nothing but stay; Modal allows a sandbox a day at most.
_FIRST = ("sleep", str(LONGEST_LIFE))

_LOG_IN = "set MODAL_TOKEN_ID and MODAL_TOKEN_SECRET, or run: modal setup"


class Token(Struct, frozen=True):
    id: str
    secret: str


class Sandbox(Struct, frozen=True, kw_only=True):
    """What a sandbox is made of; its files outlive the session if `keep` names a folder, for the names of snapshots."""

    image: str
    task: str
    cpu: float = 1
    memory: int = 5120
    network: bool = True
    keep: Path | None = None
    folder: str = WORKSPACE

    @property
    def name(self) -> str:
        return f"hermes-{hashlib.sha256(self.task.encode()).hexdigest()[:12]}"


class ModalPlace:
    """A sandbox that is made when it is needed; the same task finds it, or its files, again."""

    kind = "modal"
    login = False

    def __init__(self, wanted: Sandbox, token: Token | None) -> None:
        self.folder = wanted.folder
        self._wanted = wanted
        self._token = token
        self._kept = wanted.keep / wanted.name if wanted.keep else None
        self._snapshot = ""
        self._client: modal.Client | None = None
        self._sandbox: modal.Sandbox | None = None

    async def open(self) -> None:
        """Have a sandbox: the one of this task that still runs, or one made of its snapshot, or a new one."""
        if self._sandbox:
            return
        await _load_sdk()
        import modal

        async with _in_our_words():
            self._client = self._client or await self._connect()
            try:
                self._sandbox = await modal.Sandbox.from_name.aio(APP, self._wanted.name, client=self._client)
            except modal.exception.NotFoundError:
                self._sandbox = await self._restored() or await self._made(
                    modal.Image.from_registry(self._wanted.image)
                )

    async def start(self, argv: Sequence[str], output: Take, errors: Take) -> "Execution":
        assert self._sandbox, "it is not open"
        return Execution(self._sandbox, argv, output, errors)

    def on_screen(self, argv: Sequence[str]) -> None:
        """A local command that would show one there needs a log-in of its own."""

    def doubt(self) -> None:
        self._sandbox = None

    async def rest(self) -> None:
        """End the sandbox and keep its files; one whose files cannot be kept goes on, until Modal ends it after a day."""
        if not self._sandbox:
            return
        async with _in_our_words():
            image = await self._sandbox.snapshot_filesystem.aio(timeout=SNAPSHOT_SECONDS)
            self._snapshot = image.object_id
            if self._kept:
                await asyncio.to_thread(_write, self._kept, self._snapshot)
        await self._end()

    async def close(self) -> None:
        """End it, with a snapshot or, if nothing is to be kept, without."""
        try:
            if self._kept:
                await self.rest()
            else:
                await self._end()
        except TerminalError as error:
            log.warning("modal: the sandbox %s may still run: %s", self._wanted.name, error)
        if self._client:
            client, self._client = self._client, None
            await client.__aexit__(None, None, None)

    async def _end(self) -> None:
        if self._sandbox:
            sandbox, self._sandbox = self._sandbox, None
            async with _in_our_words():
                await sandbox.terminate.aio(wait=True)
                await sandbox.detach.aio()

    async def _connect(self) -> "modal.Client":
        import modal

        if self._token:
            return await modal.Client.from_credentials.aio(self._token.id, self._token.secret)
        return await modal.Client.from_env.aio()

    async def _restored(self) -> "modal.Sandbox | None":
        """A sandbox made of this task's snapshot, if there is one and Modal still has it."""
        import modal

        if self._kept and self._kept.exists():
            self._snapshot = await asyncio.to_thread(self._kept.read_text)
        if not self._snapshot:
            return None
        try:
            return await self._made(modal.Image.from_id(self._snapshot, client=self._client))
        except modal.exception.NotFoundError:
            log.warning("modal: the snapshot %s is gone; the sandbox begins with its image again", self._snapshot)
            return None

    async def _made(self, image: "modal.Image") -> "modal.Sandbox":
        import modal

        app = await modal.App.lookup.aio(APP, client=self._client, create_if_missing=True)
        sandbox = await modal.Sandbox.create.aio(
            *_FIRST,
            app=app,
            name=self._wanted.name,
            image=image,
            timeout=LONGEST_LIFE,
            cpu=self._wanted.cpu or None,
            memory=self._wanted.memory or None,
            block_network=not self._wanted.network,
            client=self._client,
        )
        made = await sandbox.exec.aio("mkdir", "-p", self.folder)
        if await made.wait.aio() != 0:
            raise TerminalError(f"the sandbox cannot make its folder {self.folder}")
        return sandbox


class Execution:
    """A program in a sandbox; one that could not be started, or was lost, says why on its error output."""

    def __init__(self, sandbox: "modal.Sandbox", argv: Sequence[str], output: Take, errors: Take) -> None:
        self._process: asyncio.Future[ContainerProcess[bytes] | None] = asyncio.get_running_loop().create_future()
        self._writing = asyncio.Lock()
        self._closing: asyncio.Future[None] | None = None
        self.ended: asyncio.Future[int] = asyncio.ensure_future(self._follow(sandbox, argv, output, errors))

    async def write(self, data: bytes) -> None:
        for at in range(0, len(data), CHUNK):
            await self._send(data[at : at + CHUNK], last=False)

    def close_input(self) -> None:
        self._closing = self._closing or asyncio.ensure_future(self._end_input())

    def abandon(self) -> None:
        """Stop listening. Without input the shell there ends by itself."""
        self.close_input()
        self.ended.cancel()

    async def _follow(self, sandbox: "modal.Sandbox", argv: Sequence[str], output: Take, errors: Take) -> int:
        try:
            async with _in_our_words():
                process = await sandbox.exec.aio(*argv, text=False)
                self._process.set_result(process)
                await asyncio.gather(_hand_on(process.stdout, output), _hand_on(process.stderr, errors))
                return await process.wait.aio()
        except (TerminalError, UserError) as error:
            errors(f"{error}\n".encode())
            return FAILED
        finally:
            if not self._process.done():
                self._process.set_result(None)

    async def _send(self, data: bytes, *, last: bool) -> None:
        process = await asyncio.shield(self._process)
        if not process:
            raise BrokenPipeError("it was not started")
        async with self._writing:
            try:
                async with _in_our_words():
                    if data:
                        process.stdin.write(data)
                    if last:
                        process.stdin.write_eof()
                    await process.stdin.drain.aio()
            except (TerminalError, UserError, ValueError) as error:
                raise BrokenPipeError(str(error)) from error

    async def _end_input(self) -> None:
        try:
            await self._send(b"", last=True)
        except BrokenPipeError as error:
            log.debug("modal: input not closed: %s", error)


async def _hand_on(stream: AsyncIterable[bytes], take: Take) -> None:
    async for data in stream:
        take(data)


async def _load_sdk() -> None:
    """Load Modal's package in a thread: it takes a second."""
    try:
        await asyncio.to_thread(importlib.import_module, "modal")
    except ImportError as error:
        raise UserError(
            "the modal terminal needs Modal's package, which is not installed", "pip install 'hermes-courier[modal]'"
        ) from error


@asynccontextmanager
async def _in_our_words() -> AsyncIterator[None]:
    """What Modal's package raises, as what the person can mend and what may work the next time."""
    import modal.exception

    try:
        yield
    except modal.exception.AuthError as error:
        raise UserError(f"modal does not accept the token: {_first_line(error)}", _LOG_IN) from error
    except modal.exception.ImageBuildError as error:
        raise UserError(f"modal: {_first_line(error)}", "hermes config set terminal.image NAME") from error
    except (modal.exception.Error, OSError) as error:
        raise TerminalError(_first_line(error)) from error


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), "") or type(error).__name__


def _write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    write_private(path, text)


def open_modal(
    settings: Settings, session: str, cwd: str, env: Mapping[str, str]
) -> tuple[RemoteTerminal, RemoteFiles]:
    """A sandbox for this session, with the token of the environment or the one that `modal setup` has stored."""
    wanted = settings.file.terminal
    token = Token(settings.environ.get("MODAL_TOKEN_ID", ""), settings.environ.get("MODAL_TOKEN_SECRET", ""))
    stored = Path(settings.environ.get("MODAL_CONFIG_PATH") or Path(settings.environ.get("HOME", "/")) / ".modal.toml")
    if not (token.id and token.secret) and not stored.exists():
        raise UserError("the modal terminal needs a token of Modal", _LOG_IN)
    sandbox = Sandbox(
        image=wanted.image,
        task=session,
        cpu=wanted.container_cpu,
        memory=wanted.container_memory,
        network=wanted.docker_network,
        keep=settings.home / "cache" / "modal" if wanted.container_persistent else None,
    )
    place = ModalPlace(sandbox, token if token.id and token.secret else None)
    terminal = RemoteTerminal(
        place, name=session, cap=settings.file.tool_output.max_bytes, idle=wanted.lifetime_seconds
    )
    return terminal, RemoteFiles(terminal)
