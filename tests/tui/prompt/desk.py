"""A screen with nothing on it but the box, and what came out of it."""

from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from textual import events
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.pilot import Pilot

from hermes.commands.registry import Completion
from hermes.tui.prompt.area import PromptArea
from hermes.tui.prompt.box import Completions, PromptBox
from hermes.tui.prompt.history import PromptHistory
from hermes.tui.prompt.popup import Popup


async def nothing(text: str, cursor: int) -> list[Completion]:
    return []


class Screen(App[None]):
    """Notes what the box says and which keys it leaves to others."""

    ENABLE_COMMAND_PALETTE = False
    BINDINGS = [
        Binding(key, f"note('{key}')", show=False)
        for key in ("ctrl+c", "ctrl+d", "ctrl+z", "escape", "pageup", "pagedown", "tab")
    ]

    def __init__(self, box: PromptBox) -> None:
        super().__init__()
        self._box = box
        self.sent: list[tuple[str, tuple[Path, ...]]] = []
        self.keys: list[str] = []
        self.edits = 0

    def compose(self) -> ComposeResult:
        yield self._box

    def on_mount(self) -> None:
        self._box.focus()

    def on_prompt_box_submitted(self, event: PromptBox.Submitted) -> None:
        self.sent.append((event.text, event.images))

    def on_prompt_box_edited(self) -> None:
        self.edits += 1

    def action_note(self, key: str) -> None:
        self.keys.append(key)

    @contextmanager
    def suspend(self) -> Iterator[None]:
        """A terminal of tests has nothing to lend."""
        yield


class Desk:
    """A person at the box."""

    def __init__(self, screen: Screen, box: PromptBox, history: PromptHistory, pilot: Pilot[None]) -> None:
        self.screen, self.box, self.history, self.pilot = screen, box, history, pilot
        self.area, self.popup = box.query_one(PromptArea), box.query_one(Popup)

    async def press(self, *keys: str) -> None:
        await self.pilot.press(*keys)
        await self.settled()

    async def type(self, text: str) -> None:
        """Type at full speed, where a pilot waits behind each key."""
        for line in text.splitlines(keepends=True):
            for letter in line.rstrip("\n"):
                self.area.post_message(events.Key(letter, letter))
            if line.endswith("\n"):
                await self.press("ctrl+j")
        await self.settled()

    async def paste(self, text: str) -> None:
        self.area.post_message(events.Paste(text))
        await self.settled()

    async def settled(self) -> None:
        """Wait for what was started, the threads included."""
        await self.pilot.pause()
        await self.screen.workers.wait_for_complete()
        await self.pilot.pause()

    @property
    def shown(self) -> str:
        """What stands in the box, pastes folded."""
        return self.area.text

    @property
    def offers(self) -> list[str]:
        return [offer.text for offer in self.popup.offers]

    @property
    def notices(self) -> list[str]:
        return [notice.message for notice in self.screen._notifications]


@asynccontextmanager
async def desk(
    folder: Path,
    *earlier: str,
    completions: Completions = nothing,
    environ: Mapping[str, str] | None = None,
    size: tuple[int, int] = (80, 24),
) -> AsyncIterator[Desk]:
    """A box whose history is in a folder, with entries from before."""
    history = PromptHistory(folder / "history")
    for entry in earlier:
        history.write(entry)
    box = PromptBox(completions, history, environ=environ, root=lambda: folder / "work", id="prompt")
    screen = Screen(box)
    async with screen.run_test(size=size) as pilot:
        one = Desk(screen, box, history, pilot)
        await one.settled()
        yield one
