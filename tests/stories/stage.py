"""A stage for whole stories: a home with its settings, the real app with a session in it, or the real `hermes` command."""

import asyncio
import os
import signal
import subprocess
import sys
import time
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import IO, Any

import msgspec
import pytest

from hermes import config
from hermes.app import App, Wish
from hermes.models.choose import Choice
from hermes.models.endpoint import Endpoint, Patience
from hermes.models.retry import Candidate, Resilient
from hermes.protocol.events import Body, Event, ItemDone
from hermes.protocol.items import Reply, Text, ToolCall, UserMessage
from hermes.protocol.models import Model
from hermes.protocol.wire import decode_event
from hermes.store.schema import integrity, open_database
from hermes.store.sqlite import SqliteStore
from tests.agent.stage import Play
from tests.agent.test_promises import balanced
from tests.cli.command import Hermes, Ran

DIALECTS = ("chat", "responses", "anthropic")
STUBBORN = f"{sys.executable} {Path(__file__).with_name('stubborn_child.py')}"
"""A command that leaves a child behind and ignores every polite signal, as its child does."""
PATIENT = 60.0
"""Seconds within which a thing happens that happens at once on a machine with nothing else to do."""


class Home(Hermes):
    """A person's home: Hermes' own folder in it, and a folder to work in."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.home.mkdir(exist_ok=True)
        self.work = folder / "work"
        self.work.mkdir(exist_ok=True)

    @property
    def database(self) -> Path:
        return self.home / "state.db"

    def use(self, url: str, dialect: str = "chat", **settings: Any) -> None:
        """Let the model at this address answer; JSON is YAML too."""
        model: dict[str, str] = {"provider": "custom", "name": "echo", "base_url": url}
        if dialect != "chat":
            model = {"provider": "house", "name": "echo"}
            settings["custom_providers"] = {"house": {"base_url": url, "dialect": dialect}}
        self.config.write_bytes(msgspec.json.encode({"model": model, **settings}))

    def settings(self) -> config.Settings:
        return config.load(self.environ)

    def start(
        self,
        *args: str,
        environ: dict[str, str] | None = None,
        stdin: int = subprocess.DEVNULL,
        stdout: int | IO[str] = subprocess.PIPE,
    ) -> subprocess.Popen[str]:
        """The command at work, in a session of its own so that a signal reaches nobody else."""
        return subprocess.Popen(
            [sys.executable, "-m", "hermes", *args],
            env=self.environ | (environ or {}),
            cwd=self.work,
            stdin=stdin,
            stdout=stdout,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )

    def ask(self, *args: str, stdin: str = "", **environ: str) -> Ran:
        """The command to its end, while nothing else is to be done."""
        process = self.start(*args, environ=environ, stdin=subprocess.PIPE)
        out, err = process.communicate(stdin, timeout=PATIENT)
        return Ran(process.returncode, out, err)

    def shell(self, script: str, *args: str) -> Ran:
        """A bash script in which "$@" is the command."""
        command = ["bash", "-c", script, "bash", sys.executable, "-m", "hermes", *args]
        done = subprocess.run(command, env=self.environ, cwd=self.work, capture_output=True, text=True, timeout=PATIENT)
        return Ran(done.returncode, done.stdout, done.stderr)


class QuickApp(App):
    """The app for stories about faults: waits between tries are written down and not waited, patience is as given."""

    def __init__(self, settings: config.Settings, patience: Patience = Patience()) -> None:
        super().__init__(settings)
        self.waits: list[float] = []
        self._patience = patience

    def model(self, choice: Choice) -> Model:
        found = self.roster.candidate(choice)

        def opened(secret: str) -> Model:
            endpoint = found.model(secret)
            assert isinstance(endpoint, Endpoint)
            return msgspec.structs.replace(endpoint, patience=self._patience)

        tried = Candidate(self.roster.keys(choice), opened)
        return Resilient([tried], retries=self.settings.file.agent.api_max_retries, sleep=self._wait)

    async def _wait(self, seconds: float) -> None:
        self.waits.append(seconds)


class Story(Play):
    """A session of the real app with every event it gave."""

    app: App

    async def until(self, true: Callable[[], bool], seconds: float = PATIENT) -> None:
        await super().until(true, seconds)

    def answers(self) -> list[str]:
        return [item.text for item in self.items(Reply) if item.status == "done"]

    def calls(self) -> list[ToolCall]:
        return self.items(ToolCall)

    def items(self, kind: type) -> list[Any]:
        return items_in(self.bodies, kind)


@asynccontextmanager
async def tell(home: Home, app: App | None = None, **wish: Any) -> AsyncGenerator[Story]:
    """Open the app and a session of it in the folder to work in; at the end nothing that began may be without its end."""
    async with app or App(home.settings()) as opened:
        session = await opened.open(Wish(cwd=str(home.work), **wish))
        story = Story(session, opened.store)
        story.app = opened
        try:
            yield story
        finally:
            await story.close()
        assert balanced(story.bodies)


async def stored(home: Home) -> list[Event]:
    """The events of the only session there is."""
    async with SqliteStore(home.database) as store:
        [row] = await store.sessions()
        return await store.events(row.id)


async def ended(process: subprocess.Popen[str], seconds: float = PATIENT) -> Ran:
    """What a command gave that was started, once it has ended; one that does not end is killed and fails the story."""
    try:
        out, err = await asyncio.to_thread(process.communicate, timeout=seconds)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = await asyncio.to_thread(process.communicate)
        pytest.fail(f"hermes did not end within {seconds:.0f} s; it printed {out!r} and {err!r}")
    return Ran(process.returncode, out or "", err or "")


async def eventually(true: Callable[[], object], seconds: float = PATIENT) -> None:
    """Wait for something that no event tells of."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not come to pass"
        await asyncio.sleep(0.01)


def items_in(bodies: list[Body], kind: type) -> list[Any]:
    """The finished items of one kind, in the order in which they were finished."""
    return [body.item for body in bodies if isinstance(body, ItemDone) and isinstance(body.item, kind)]


def words_in(bodies: list[Body]) -> list[str]:
    """What a person said, message by message."""
    said = (item.parts[0] for item in items_in(bodies, UserMessage))
    return [part.text for part in said if isinstance(part, Text)]


def events_of(lines: str) -> list[Event]:
    """What `--json` printed; a line that a kill broke off was not printed."""
    return [decode_event(line.encode()) for line in lines.splitlines(keepends=True) if line.endswith("\n")]


def is_sound(database: Path) -> bool:
    """Whether the database passes its own check; raises what is wrong if not."""
    connection, _ = open_database(database)
    integrity(connection)
    connection.close()
    return True


def processes_with(mark: str) -> list[int]:
    """Every living process that has this word in its command line."""
    found: list[int] = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
            state = (folder / "stat").read_bytes().rpartition(b")")[2].split()[0]
        except OSError:
            continue
        if mark.encode() in command and state != b"Z":
            found.append(int(folder.name))
    return found


def end_processes(mark: str) -> None:
    """Leave nothing of a story that failed behind."""
    for pid in processes_with(mark):
        if pid != os.getpid():
            os.kill(pid, signal.SIGKILL)
