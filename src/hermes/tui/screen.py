"""The terminal screen: a page, a line of what is at work, a box to type in, a line of figures.

The first paint comes before the app is loaded; what is typed until a session is there waits for it.
"""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from textual import on
from textual.app import App, ComposeResult
from textual.binding import Binding
from textual.timer import Timer

from hermes.commands.registry import Completion
from hermes.config import Settings
from hermes.protocol.errors import HermesError
from hermes.tui import skins
from hermes.tui.banner import Banner
from hermes.tui.looks import Looks
from hermes.tui.page import Page
from hermes.tui.prompt.box import PromptBox
from hermes.tui.prompt.history import PromptHistory
from hermes.tui.status import Activity, StatusBar
from hermes.tui.transcript import Transcript

if TYPE_CHECKING:
    from hermes.tui.conversations import Conversations
    from hermes.tui.desk import Desk, Started
    from hermes.tui.dialog import Dialog

TICK = 1.0


class HermesScreen(App[int]):
    """Talks with one session after the other, or several at once; ends with an exit code, or with `error`."""

    TITLE = "Hermes"
    ENABLE_COMMAND_PALETTE = False
    AUTO_FOCUS = "#prompt TextArea"
    """From the first key on: what is typed while Hermes starts is meant for the box."""
    CSS = "Screen { layout: vertical; background: $background; }"
    BINDINGS = [
        Binding("ctrl+c", "stop_or_copy", "interrupt", show=False, priority=True),
        Binding("escape", "stop", "interrupt", show=False),
        Binding("ctrl+d", "leave", "leave", show=False),
        Binding("ctrl+z", "suspend_process", "suspend", show=False),
        Binding("ctrl+n", "another", "new session", show=False),
        Binding("ctrl+t", "sessions", "sessions", show=False),
        Binding("ctrl+o", "unfold", "open or fold tools", show=False),
        Binding("ctrl+l", "redraw", "redraw", show=False),
        Binding("pageup", "page(-1)", "up", show=False),
        Binding("pagedown", "page(1)", "down", show=False),
    ]

    def __init__(self, settings: Settings, start: "Callable[[], Awaitable[Started]]") -> None:
        self.looks = Looks(settings.file.display, settings.home / "skins", self._look)
        super().__init__()
        self.settings = settings
        self.desk: Desk | None = None
        self.conversations: Conversations | None = None
        self.error: Exception | None = None
        self._start = start
        self._early: list[PromptBox.Submitted] = []
        self._fading: Timer | None = None
        self._dress()

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return skins.variables(self.looks.skin)

    def compose(self) -> ComposeResult:
        page, self._banner = Page(), self.new_banner()
        page.add(self._banner)
        settings = self.settings
        history = PromptHistory(settings.home / "history")
        self.transcript = Transcript(page, self.looks.view)
        self.activity = Activity(self.looks.skin, self.looks.view.activity)
        self.prompt = PromptBox(self._completions, history, environ=settings.environ, root=self._root, id="prompt")
        self.status = StatusBar(id="status")
        yield from (self.transcript, self.activity, self.prompt, self.status)

    def on_mount(self) -> None:
        self.prompt.focus()
        self.app_resume_signal.subscribe(self, lambda _: self.action_redraw())
        self.set_interval(TICK, self._tick)
        self.call_after_refresh(lambda: self.run_worker(self._begin))

    async def _begin(self) -> None:
        """Load the rest and open a session, now that the screen is there."""
        desk = await asyncio.to_thread(import_module, "hermes.tui.desk")
        try:
            opened: Desk = await desk.open_desk(self, self._start, self._banner)
        except HermesError as error:
            self.error = error
            return self.exit(1)
        self.desk = opened
        early, self._early = self._early, []
        for typed in early:
            await opened.talk.take(typed.text, typed.images)

    def _fatal_error(self) -> None:
        """Leave without Textual's report, which shows local variables, secrets too; `error` is told in one line."""
        self.error = self._exception
        self._close_messages_no_wait()

    def new_banner(self) -> Banner:
        home = self.settings.environ.get("HOME", "")
        return Banner(self.looks.skin, str(Path.cwd()), home, compact=self.settings.file.display.compact)

    # What is typed and answered

    async def _completions(self, text: str, cursor: int) -> list[Completion]:
        return await self.desk.complete(text, cursor) if self.desk else []

    def _root(self) -> Path | None:
        return self.desk.root if self.desk else None

    @on(PromptBox.Submitted)
    def _submitted(self, event: PromptBox.Submitted) -> None:
        self.transcript.follow()
        if self.desk is None:
            self._early.append(event)
        else:
            self.run_worker(partial(self.desk.take, event.text, event.images))

    @on(PromptBox.Edited)
    def _edited(self) -> None:
        self.transcript.make_way()

    def on_dialog_given(self, event: "Dialog.Given") -> None:
        if self.desk:
            self.run_worker(partial(self.desk.answer, event.asked, event.answer))

    @on(Transcript.Left)
    def _type_again(self, event: Transcript.Left) -> None:
        self.prompt.focus()
        if event.text:
            self.prompt.put(event.text)

    # Keys

    def action_stop_or_copy(self) -> None:
        """Ctrl+C copies what is marked; else it stops."""
        if marked := self.screen.get_selected_text():
            self.copy_to_clipboard(marked)
            self.screen.clear_selection()
        else:
            self.action_stop()

    def action_stop(self) -> None:
        if self.desk is None:
            self.exit(0)
        else:
            self.desk.stop()

    def action_leave(self) -> None:
        self.exit(0)

    def action_focus_previous(self) -> None:
        """Shift+Tab out of the box chooses what can be folded; no other way to the page may move it."""
        super().action_focus_previous()
        if self.focused is self.transcript:
            self.transcript.action_choose(-1)

    def action_another(self) -> None:
        if self.desk:
            self.run_worker(self.desk.told(self.desk.open()))

    def action_sessions(self) -> None:
        if self.desk:
            self.run_worker(self.desk.told(self.desk.choose()))

    def action_unfold(self) -> None:
        self.looks.detail("tools", "folded" if self.looks.view.tools == "open" else "open")

    def action_redraw(self) -> None:
        self.transcript.draw()
        self.refresh(repaint=True, layout=True)

    def action_page(self, way: int) -> None:
        if way < 0:
            self.transcript.scroll_back()
        else:
            self.transcript.scroll_page_down(animate=False)

    # Looks

    def _dress(self) -> None:
        theme = skins.theme(self.looks.skin)
        self.register_theme(theme)
        self.theme = theme.name

    def _look(self, looks: Looks) -> None:
        """Show another skin or another view."""
        if self.theme != f"hermes-{looks.skin.name}":
            self._dress()
        self.activity.skin, self.activity.state = looks.skin, looks.view.activity
        for one in self.conversations.all if self.conversations else ():
            one.banner.skin = looks.skin
            one.page.touch(one.banner)
        self.transcript.view = looks.view

    def note(self, text: str, seconds: float) -> None:
        """A word beside the activity, for a while."""
        if self._fading is not None:
            self._fading.stop()
        self.activity.say(text)
        self._fading = self.set_timer(seconds, lambda: self.activity.say(""))

    def tell_progress(self, done: int, total: int, note: str) -> None:
        """How far a download is."""
        share = f" {done / total:.0%}" if total else ""
        self.activity.say(f"{note}{share}" if done < total else "")

    def _tick(self) -> None:
        if self.desk:
            self.desk.tick()
