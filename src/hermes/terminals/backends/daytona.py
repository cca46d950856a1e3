"""Commands in a sandbox of Daytona: stopped while nobody needs it, and started again with its files on the next use."""

import asyncio
import hashlib
import importlib
import logging
import math
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Struct

from hermes.config import Settings
from hermes.protocol.errors import TerminalError, UserError
from hermes.protocol.ids import new_id
from hermes.terminals.remote.files import RemoteFiles
from hermes.terminals.remote.place import Take
from hermes.terminals.remote.screen import OnScreen
from hermes.terminals.remote.terminal import RemoteTerminal

if TYPE_CHECKING:
    import httpx2
    from httpx2.websockets import AsyncWebSocketSession

log = logging.getLogger(__name__)

API = "https://app.daytona.io/api"
LABEL = "hermes.task"
SECONDS = 60.0
BUILD_SECONDS = 900.0
LET_GO_SECONDS = 5.0
PAUSE = 0.1
LONGEST_PAUSE = 2.0
ALIVE_EVERY = 60.0
MOST_DISK = 10
STOP_AFTER_MINUTES = 60
MESSAGE = 1 << 20

_KEY = "set DAYTONA_API_KEY (hermes config set DAYTONA_API_KEY KEY); keys are made on Daytona's dashboard"


class Sandbox(Struct, frozen=True, kw_only=True):
    """What a sandbox is made of, memory and disk in megabytes; one that is not `persistent` is deleted when it is closed."""

    image: str
    task: str
    cpu: float = 1
    memory: int = 5120
    disk: int = 10_240
    network: bool = True
    persistent: bool = True
    target: str = ""

    @property
    def name(self) -> str:
        return f"hermes-{hashlib.sha256(self.task.encode()).hexdigest()[:12]}"

    def request(self) -> dict[str, Any]:
        """The body that asks for it. Should Hermes die, Daytona stops it by itself."""
        wanted: dict[str, Any] = {
            "name": self.name,
            "labels": {LABEL: self.task},
            "buildInfo": {"dockerfileContent": f"FROM {self.image}\n"},
            "cpu": max(1, math.ceil(self.cpu)),
            "memory": max(1, math.ceil(self.memory / 1024)),
            "disk": min(MOST_DISK, max(1, math.ceil(self.disk / 1024))),
            "networkBlockAll": not self.network,
            "autoStopInterval": STOP_AFTER_MINUTES,
        }
        return wanted | ({"target": self.target} if self.target else {})


class Answer(Struct, frozen=True, rename="camel"):
    """What Daytona says about a sandbox."""

    id: str
    state: str = "unknown"
    labels: dict[str, str] = {}
    toolbox_proxy_url: str = ""
    error_reason: str | None = None


class Api:
    """Daytona's HTTP API, with a key; its web sockets too."""

    def __init__(self, url: str, key: str) -> None:
        self.url = url.rstrip("/")
        self._key = key
        self._client: httpx2.AsyncClient | None = None
        self._closed = False

    @property
    def client(self) -> "httpx2.AsyncClient":
        if not self._client:
            import httpx2

            # A context for TLS costs 30 ms.
            verify = self.url.startswith("https")
            headers = {"Authorization": f"Bearer {self._key}"}
            self._client = httpx2.AsyncClient(headers=headers, timeout=SECONDS, verify=verify)
        return self._client

    async def ask(self, method: str, url: str, body: dict[str, Any] | None = None) -> bytes | None:
        """The answer to a request, or None if there is no such thing."""
        import httpx2

        if self._closed:
            raise TerminalError("the connection to Daytona is closed")
        try:
            response = await self.client.request(method, url, json=body)
        except httpx2.HTTPError as error:
            raise TerminalError(f"Daytona cannot be reached: {error or type(error).__name__}") from error
        if response.status_code == 404:
            return None
        if response.status_code in (401, 403):
            raise UserError(f"daytona does not accept the key: {_complaint(response)}", _KEY)
        if response.status_code in (400, 402, 422):
            raise UserError(
                f"daytona: {_complaint(response)}", "change terminal.image or terminal.container_* to suit it"
            )
        if response.status_code >= 300:
            raise TerminalError(f"Daytona answered {response.status_code}: {_complaint(response)}")
        return response.content

    async def close(self) -> None:
        self._closed = True
        if self._client:
            await self._client.aclose()


class DaytonaPlace:
    """A sandbox that is made when it is needed, found again by its name, and stopped while nobody needs it."""

    kind = "daytona"
    login = False
    folder = ""

    def __init__(self, wanted: Sandbox, api: Api) -> None:
        self._wanted = wanted
        self._api = api
        self._sandbox = f"{api.url}/sandbox/{wanted.name}"
        self._toolbox = ""
        self._told = 0.0
        self._programs: list[OnScreen] = []

    async def open(self) -> None:
        """Have the sandbox started, and let Daytona know from time to time that somebody needs it."""
        if not self._toolbox:
            answer = await self._started(await self._look() or await self._make())
            self._toolbox = f"{self._safe(answer.toolbox_proxy_url)}/{answer.id}"
        elif time.monotonic() - self._told > ALIVE_EVERY:
            await self._api.ask("POST", f"{self._sandbox}/last-activity")
        else:
            return
        self._told = time.monotonic()

    async def start(self, argv: Sequence[str], output: Take, errors: Take) -> OnScreen:
        program = OnScreen(Screen(self._api, f"{self._toolbox}/process/pty"), argv, output, errors)
        self._programs = [*(one for one in self._programs if not one.is_gone), program]
        return program

    def on_screen(self, argv: Sequence[str]) -> None:
        """A local command that would show one there needs a log-in of its own."""

    def doubt(self) -> None:
        self._toolbox = ""

    async def rest(self) -> None:
        if self._toolbox:
            self._toolbox = ""
            await self._api.ask("POST", f"{self._sandbox}/stop")
            await self._wait_for("stopped", await self._look())

    async def close(self) -> None:
        """Stop a persistent sandbox, whose files stay; delete any other."""
        if self._programs:
            await asyncio.wait([asyncio.ensure_future(one.gone()) for one in self._programs], timeout=LET_GO_SECONDS)
        try:
            if self._wanted.persistent:
                await self.rest()
            elif self._toolbox:
                self._toolbox = ""
                await self._api.ask("DELETE", self._sandbox)
        except (TerminalError, UserError) as error:
            log.warning("daytona: the sandbox %s may still run: %s", self._wanted.name, error)
        await self._api.close()

    async def _look(self) -> Answer | None:
        """What there is: a sandbox of our name that somebody else made is not ours to use."""
        body = await self._api.ask("GET", self._sandbox)
        answer = _read(body) if body is not None else None
        if not answer or answer.state in ("destroyed", "destroying"):
            return None
        if answer.labels.get(LABEL) != self._wanted.task:
            raise UserError(f"the sandbox {self._wanted.name} is not Hermes' own", "delete it on Daytona's dashboard")
        return answer

    async def _make(self) -> Answer:
        body = await self._api.ask("POST", f"{self._api.url}/sandbox", self._wanted.request())
        if body is None:
            raise TerminalError("Daytona has no way to make a sandbox: check DAYTONA_API_URL")
        return _read(body)

    async def _started(self, answer: Answer) -> Answer:
        if answer.state == "stopping":
            answer = await self._wait_for("stopped", answer)
        if answer.state in ("stopped", "archived"):
            await self._api.ask("POST", f"{self._sandbox}/start")
            answer = await self._look() or answer
        return await self._wait_for("started", answer)

    async def _wait_for(self, state: str, answer: Answer | None) -> Answer:
        """Look again and again until the sandbox is in this state."""
        deadline, pause = time.monotonic() + BUILD_SECONDS, PAUSE
        while answer and answer.state != state:
            if answer.state in ("error", "build_failed"):
                reason = " ".join((answer.error_reason or answer.state).split())
                raise UserError(f"daytona: the sandbox failed: {reason}", "hermes config set terminal.image NAME")
            if time.monotonic() > deadline:
                raise TerminalError(f"the sandbox is {answer.state}, and was not {state} in {BUILD_SECONDS:.0f} s")
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, LONGEST_PAUSE)
            answer = await self._look()
        if not answer:
            raise TerminalError("the sandbox is gone")
        return answer

    def _safe(self, url: str) -> str:
        """The address of a sandbox, which gets the key too: never in the clear if the API's own is not."""
        if self._api.url.startswith("https:") and not url.startswith("https:"):
            raise TerminalError(f"Daytona named an address that is not safe for the key: {url}")
        return url.rstrip("/")


class Screen:
    """A screen of a sandbox that shows one program."""

    def __init__(self, api: Api, screens: str) -> None:
        self._api = api
        self._screens = screens
        self._name = f"hermes-{new_id()}"

    @asynccontextmanager
    async def open(self, envs: dict[str, str]) -> AsyncIterator["AsyncWebSocketSession"]:
        """Have a shell on it, with these variables, and the socket that leads to both."""
        import httpx2
        from httpx2.websockets import HTTPXWSException

        wanted = {"id": self._name, "envs": envs, "cols": 80, "rows": 24}
        if await self._api.ask("POST", self._screens, wanted) is None:
            raise TerminalError("the sandbox is not there")
        address = f"ws{self._screens.removeprefix('http')}/{self._name}/connect"
        try:
            async with self._api.client.websocket(address, max_message_size_bytes=MESSAGE) as socket:
                yield socket
        except (httpx2.HTTPError, HTTPXWSException) as error:
            raise TerminalError(f"Daytona cannot be reached: {error or type(error).__name__}") from error

    async def close(self) -> None:
        """Close it, with the shell on it."""
        try:
            await self._api.ask("DELETE", f"{self._screens}/{self._name}")
        except (TerminalError, UserError) as error:
            log.debug("daytona: a screen was not closed: %s", error)


def _read(body: bytes) -> Answer:
    try:
        return msgspec.json.decode(body, type=Answer)
    except msgspec.DecodeError as error:
        raise TerminalError(f"Daytona gave an answer that cannot be read: {error}") from error


def _complaint(response: "httpx2.Response") -> str:
    """What Daytona says about a request that it refuses, as one line."""
    try:
        said = response.json()
        text = str(said.get("message") or said.get("error") or "") if isinstance(said, dict) else ""
    except ValueError:
        text = response.text
    return " ".join(text.split())[:300] or str(response.status_code)


def _must_have_sockets() -> None:
    try:
        importlib.import_module("wsproto")
    except ImportError as error:
        raise UserError(
            "the daytona terminal needs a package that is not installed", "pip install 'hermes-courier[daytona]'"
        ) from error


def open_daytona(
    settings: Settings, session: str, cwd: str, env: Mapping[str, str]
) -> tuple[RemoteTerminal, RemoteFiles]:
    """A sandbox for this session, with the key of the environment."""
    key = settings.environ.get("DAYTONA_API_KEY", "")
    if not key:
        raise UserError("the daytona terminal needs a key of Daytona", _KEY)
    _must_have_sockets()
    wanted = settings.file.terminal
    sandbox = Sandbox(
        image=wanted.image,
        task=session,
        cpu=wanted.container_cpu,
        memory=wanted.container_memory,
        disk=wanted.container_disk,
        network=wanted.docker_network,
        persistent=wanted.container_persistent,
        target=settings.environ.get("DAYTONA_TARGET", ""),
    )
    api = Api(settings.environ.get("DAYTONA_API_URL") or API, key)
    terminal = RemoteTerminal(
        DaytonaPlace(sandbox, api), name=session, cap=settings.file.tool_output.max_bytes, idle=wanted.lifetime_seconds
    )
    return terminal, RemoteFiles(terminal)
