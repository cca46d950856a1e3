"""A person at the full screen: a real App, a scripted model server, Textual's Pilot for the keyboard."""

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

from textual.pilot import Pilot
from textual.widgets import TextArea

from hermes import config
from hermes.app import App, Wish
from hermes.tui.conversation import Conversation
from hermes.tui.desk import Desk, Started
from hermes.tui.screen import HermesScreen
from tests.services.model_server import Answerer, ModelServer
from tests.services.script import Reply, Script

PATIENCE = 10.0


class Person:
    """Types and looks."""

    def __init__(self, screen: HermesScreen, pilot: Pilot[int], server: ModelServer, home: Path, work: Path) -> None:
        self.screen, self.pilot, self.server = screen, pilot, server
        self.home, self.work = home, work

    @property
    def desk(self) -> Desk:
        assert self.screen.desk is not None
        return self.screen.desk

    @property
    def front(self) -> Conversation:
        return self.desk.front

    @property
    def page(self) -> str:
        """The conversation in front, as far as it is laid out."""
        self.screen.transcript.draw()
        return self.front.page.text()

    @property
    def seen(self) -> str:
        """Everything on the screen."""
        lines = [strip.text.rstrip() for strip in self.screen.screen._compositor.render_strips()]
        return "\n".join(lines).rstrip()

    async def until(self, true: Callable[[], object]) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                while not true():
                    await self.pilot.pause(0.01)
        except TimeoutError:
            raise AssertionError(f"it did not come; the screen:\n{self.seen}") from None

    async def sees(self, *texts: str) -> None:
        for text in texts:
            await self.until(lambda text=text: text in self.seen)

    async def turns_to(self, text: str) -> None:
        """Turn pages down until a text is seen."""
        async with asyncio.timeout(PATIENCE):
            while text not in self.seen:
                await self.pilot.press("pagedown")

    async def types(self, text: str) -> None:
        """Put a text into the box and send it."""
        self.screen.prompt.focus()
        if self.screen.prompt.display:  # a dialog that was just answered may still have the keys
            await self.until(lambda: isinstance(self.screen.focused, TextArea))
        self.screen.prompt.load(text)
        await self.pilot.press("enter")

    async def says(self, text: str, *texts: str) -> None:
        """Send a text, and wait until the turn is over and these are seen."""
        before = self.front.session.history.turn
        await self.types(text)
        await self.until(lambda: self.front.session.history.turn > before and not self.front.session.busy)
        await self.sees(*texts)

    def asked(self) -> list[str]:
        """What people said in the last request."""
        body = self.server.last.body
        return [message["content"] for message in body["messages"] if message["role"] == "user"]


@asynccontextmanager
async def person(
    folder: Path,
    script: Sequence[Reply] | Script | Answerer = (),
    *,
    settings: str = "",
    wish: Wish | None = None,
    size: tuple[int, int] = (100, 30),
    early: str = "",
) -> AsyncIterator[Person]:
    """Somebody at a screen of this size, in `folder`/work with `folder`/home as the home of Hermes.

    What is `early` is typed before anything is open.
    """
    home, work = folder / "home", folder / "work"
    home.mkdir(exist_ok=True)
    work.mkdir(exist_ok=True)
    script = list(script) if isinstance(script, Sequence) else script
    async with ModelServer(script) as server:
        model = f"model: {{provider: custom, name: echo, base_url: {server.base_url}}}\n"
        (home / "config.yaml").write_text(model + settings)
        environ = {"HERMES_HOME": str(home), "HOME": str(folder), "PATH": os.environ["PATH"]}
        async with App(config.load(environ)) as app:
            chosen = wish or Wish(cwd=str(work))

            ready = asyncio.Event()

            async def start() -> Started:
                await ready.wait()
                return Started(app, chosen, lambda app, wish: app.open(wish))

            screen = HermesScreen(app.settings, start)
            async with screen.run_test(size=size) as pilot:
                one = Person(screen, pilot, server, home, work)
                if early:
                    await one.types(early)
                ready.set()
                await one.until(lambda: screen.desk is not None or screen.error is not None)
                try:
                    yield one
                finally:
                    if screen.conversations is not None:
                        await screen.conversations.close()
    assert server.violations == []
