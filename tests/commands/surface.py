"""A surface without a screen: a real session of a real App, a scripted model, and a person who types commands."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from hermes import config
from hermes.agent.session import Session
from hermes.app import App, Wish
from hermes.commands.builtin import registry_of
from hermes.commands.registry import Outcome, Surface
from hermes.protocol.events import TurnEnded
from tests.agent.stage import Play, ScriptedModel

NOWHERE = "http://127.0.0.1:9/v1"


class Person:
    """Types commands into a session; `stage` has every event that came of it."""

    surface: Surface = "terminal"

    def __init__(self, app: App, session: Session) -> None:
        self.app, self.session = app, session
        self.registry = registry_of(app)
        self.stage = Play(session, app.store)

    async def types(self, text: str) -> Outcome:
        """Run a command as a surface does, without asking, and send the ops that it gives."""
        typed = self.registry.read(text, self.surface)
        assert typed is not None
        outcome = await typed.run(self)
        for op in outcome.ops:
            await self.session.send(op)
        return outcome

    async def reply(self, text: str) -> str:
        return (await self.types(text)).reply

    async def until(self, kind: type, count: int = 1) -> list[Any]:
        """Wait for so many events of a kind."""
        await self.stage.until(lambda: len(self.stage.of(kind)) >= count)
        return self.stage.of(kind)

    async def ended(self, count: int) -> None:
        await self.until(TurnEnded, count)


@asynccontextmanager
async def person(
    folder: Path, model: ScriptedModel | None = None, *, settings: str = "", base_url: str = NOWHERE
) -> AsyncIterator[Person]:
    """A person at a session in `folder`/work, with `folder`/home as the home of Hermes and more `settings` if need be."""
    home, work = folder / "home", folder / "work"
    home.mkdir(exist_ok=True)
    work.mkdir(exist_ok=True)
    model_line = f"model: {{provider: custom, name: echo, base_url: {base_url}}}\n"
    (home / "config.yaml").write_text(model_line + settings)
    variables = {"HERMES_HOME": str(home), "HOME": str(folder), "PATH": os.environ["PATH"]}
    async with App(config.load(variables)) as app:
        session = await app.open(Wish(cwd=str(work)))
        if model is not None:
            session.model = model
        one = Person(app, session)
        try:
            yield one
        finally:
            await one.stage.close()
