"""What every suite stands on: a home of its own, the real app with its sessions, and the gated model behind a real server."""

import asyncio
import os
import shutil
import tempfile
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import msgspec

from hermes import config
from hermes.app import App, Wish
from hermes.app.reviews import UNREAD, Reviews
from tests.agent.stage import Play
from tests.services.gated_model import GatedModel, Walk
from tests.services.model_server import ModelServer

MEMORY_OFF: dict[str, Any] = {"memory": {"memory_enabled": False, "user_profile_enabled": False, "nudge_interval": 0}}
PATIENT, WAITING = 60.0, 20.0


class ReadyApp(App):
    """The app with reviews that do not wait for a session to come to rest."""

    @cached_property
    def _reviews(self) -> Reviews:
        reviews = Reviews(self, settling=0.0)
        self._stack.push_async_callback(reviews.close)
        return reviews


class Scene:
    """One home with its settings. Sessions are opened one after the other, as one person would; with `attended` somebody sits
    before them, and so they are reviewed."""

    def __init__(self, model: GatedModel, *, window: int = 128_000, attended: bool = False, **settings: Any) -> None:
        self.model = model
        self._window, self._attended, self._settings = window, attended, settings

    async def __aenter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="hermes-learning-"))
        self.home, self.work = self.folder / "home", self.folder / "work"
        self.home.mkdir(mode=0o700)
        self.work.mkdir()
        self.server = ModelServer(self.model)
        await self.server.__aenter__()
        house = {"base_url": self.server.base_url, "context_length": self._window}
        text = {"model": {"provider": "house", "name": "gated"}, "custom_providers": {"house": house}, **self._settings}
        (self.home / "config.yaml").write_bytes(msgspec.json.encode(text))
        environ = {"HOME": str(self.folder), "HERMES_HOME": str(self.home), "PATH": os.environ["PATH"]}
        self.app = ReadyApp(config.load(environ))
        return self

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        await self.app.__aexit__()
        await self.server.__aexit__(kind, error, trace)
        shutil.rmtree(self.folder)
        if error is None and self.server.violations:
            raise RuntimeError(f"the model server refused a request: {self.server.violations[0]}")

    @asynccontextmanager
    async def session(self, **wish: Any) -> AsyncGenerator["Conversation"]:
        """A session with every event it gave, closed at the end."""
        play = Conversation(
            await self.app.open(Wish(cwd=str(self.work), can_ask=self._attended, **wish)), self.app.store
        )
        try:
            yield play
        finally:
            await play.close()

    async def ask(self, *words: str, **wish: Any) -> Walk:
        """A session in which these things are said, one after the other; what the model did meanwhile."""
        self.model.walk()
        async with self.session(**wish) as play:
            for each in words:
                await play.go_on(each)
        return self.model.walk()

    async def reviewed(self) -> None:
        """Wait until every session was read."""
        await self._until(self._is_reviewed, "sessions are left that nobody reviews")

    async def remembers(self, words: str) -> None:
        """Wait until something with these words is remembered."""

        async def is_there() -> bool:
            return any(words in entry.content for entry in await self.app.store.memories.entries("active"))

        await self._until(is_there, f"{words!r} is not remembered")

    async def _is_reviewed(self) -> bool:
        return not await self.app.store.memories.unreviewed(0.0, UNREAD)

    async def _until(self, true: Callable[[], Awaitable[bool]], else_: str) -> None:
        deadline = time.monotonic() + WAITING
        while not await true():
            if time.monotonic() > deadline:
                raise RuntimeError(else_)
            await asyncio.sleep(0.01)
        # The rows are committed before the file is put in its place: whoever has the lock sees both.
        await self.app.memory.notebook.sync()


class Conversation(Play):
    """A session of the real app, on a machine that may have other things to do."""

    async def until(self, true: Callable[[], bool], seconds: float = PATIENT) -> None:
        await super().until(true, seconds)

    async def go_on(self, words: str) -> None:
        """Say something and wait for the end of its turn, which must be a good one."""
        ended = await self.say(words)
        if ended.reason != "done":
            raise RuntimeError(f"a turn ended as {ended.reason}: {ended.error} {ended.hint}")
