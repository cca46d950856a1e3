"""What the screen works with once the app is open: sessions, questions, and who talks. Loaded after the first paint."""

import time
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec import Struct
from msgspec.structs import replace

from hermes.app import App, Wish
from hermes.commands.complete import Completer
from hermes.commands.offline import offline_notice
from hermes.commands.references import local_root
from hermes.commands.registry import Screen
from hermes.protocol.errors import HermesError, UserError
from hermes.protocol.events import Asked
from hermes.protocol.ops import Answer, Configure
from hermes.tui.banner import Banner, git_state
from hermes.tui.conversation import Conversation
from hermes.tui.conversations import Conversations, OpenSession
from hermes.tui.facts import facts_of
from hermes.tui.markdown import warm_up
from hermes.tui.questions import Confirmed, Questions
from hermes.tui.status import Work
from hermes.tui.switcher import NEW, Switcher
from hermes.tui.talk import Talk

if TYPE_CHECKING:
    from hermes.tui.screen import HermesScreen

TWICE = 2.0
"""Seconds within which a second Ctrl+C or Esc leaves."""


class Started(Struct, frozen=True):
    """An app that is open, the session that is wanted first, and how sessions are opened."""

    app: App
    wish: Wish
    open_session: OpenSession


class Desk:
    """The sessions of one screen, the one in front, and what the person does with them."""

    def __init__(
        self, screen: "HermesScreen", started: Started, front: Conversation, conversations: Conversations
    ) -> None:
        self.conversations = conversations
        self.questions = Questions(screen)
        self._screen = screen
        self._app, self._wish = started.app, started.wish
        self.talk = Talk(started.app, self, front, started.app.settings.file.display.busy_input_mode)
        self.complete = Completer(self.talk)
        self._last_stop = -TWICE
        conversations.changed = self.changed
        self._bring(front)
        screen.run_worker(warm_up, thread=True)

    @property
    def front(self) -> Conversation:
        return self.talk.conversation

    @property
    def root(self) -> Path | None:
        """The folder of the session in front, if it is on this machine."""
        return local_root(self.front.session)

    # Sessions

    def _bring(self, one: Conversation) -> None:
        """Follow a conversation that was just opened, and show it."""
        self._screen.run_worker(partial(self._follow, one))
        self._screen.run_worker(partial(self._look_at_git, one))
        self.show(one)

    def show(self, one: Conversation) -> None:
        """Put a conversation in front."""
        self.talk.conversation = one
        self._screen.transcript.show(one.page)
        self.changed(one)

    async def _follow(self, one: Conversation) -> None:
        await one.follow(self.drawn)
        if one in self.conversations.all:
            one.tell("the session was closed elsewhere")
            self.drawn(one)

    async def _look_at_git(self, one: Conversation) -> None:
        one.banner.git = await git_state(one.banner.folder, self._app.settings.shell)
        one.page.touch(one.banner)
        self.drawn(one)

    async def open(self, *, resume: str = "", title: str = "") -> None:
        """Open another session in front; the one before makes way if nothing was said in it."""
        before = self.front
        one = await self.conversations.open(replace(self._wish, resume=resume), self._screen.new_banner())
        self._bring(one)
        if title:
            await one.session.send(Configure(title=title))
        if before.session.history.turn == 0:
            await self._end(before)

    async def go_to(self, session: str) -> None:
        if one := self.conversations.find(session):
            self.show(one)
        else:
            await self.open(resume=session)

    async def choose(self) -> None:
        """Let the person choose a session."""
        entries = await self.conversations.entries()
        self._screen.push_screen(Switcher(entries, self.front.session.id), self._chosen)

    def _chosen(self, session: str | None) -> None:
        if session:
            self._screen.run_worker(self.told(self.open() if session == NEW else self.go_to(session)))

    async def _end(self, one: Conversation) -> None:
        """Close a session, unless it is in front, at work or gone already."""
        if one in self.conversations.all and one is not self.front and not one.session.busy:
            await self.conversations.end(one)

    async def told(self, work: Awaitable[None]) -> None:
        """Do it; what is wrong is told on the page."""
        try:
            await work
        except HermesError as error:
            hint = f" ({error.hint})" if isinstance(error, UserError) and error.hint else ""
            self.front.tell(f"{error}{hint}")
            self.drawn(self.front)

    # For whoever talks

    async def confirm(self, question: str) -> Confirmed:
        return await self.questions.confirm(question, self.front)

    async def act(self, screen: Screen) -> str:
        """Do what a command wants of the screen; returns what to tell about it."""
        front, data, looks = self.front, screen.data, self._screen.looks
        match screen.action:
            case "quit":
                self.conversations.forgotten = data
                self._screen.exit(0)
            case "new" | "clear":
                await self.open(title=data)
                await self._end(front)
            case "resume":
                await self.go_to(data)
            case "sessions":
                await self.choose()
            case "details":
                return looks.detail(*data.split(" ", 1))
            case "skin":
                return looks.wear(data)
            case "verbose":
                return looks.show_progress(data)
            case "busy":
                return self.talk.behave(data)
            case "copy":
                self._screen.copy_to_clipboard(data)
                return "copied, if the terminal lets programs do that"
            case "redraw":
                self._screen.action_redraw()
            case "timestamps" | "footer":
                return looks.switch(screen.action, data)
            case "statusbar":
                return self._screen.status.switch(data)
            case "indicator":
                return self._screen.activity.indicate(data)
            case "paste":
                self._screen.prompt.action_paste_picture()
            case "compose":
                self._screen.prompt.load(data)
                self._screen.prompt.action_edit()
        return ""

    def drawn(self, conversation: Conversation) -> None:
        if conversation is self.front:
            self._screen.transcript.soon()

    async def answer(self, asked: Asked, answer: Answer) -> None:
        """Hand in what was answered in the dialog."""
        if self.questions.take(asked, answer):
            return
        for one in self.conversations.all:
            if answer.request_id in one.asked:
                await self.told(_sent(one, answer))

    async def take(self, text: str, images: tuple[Path, ...]) -> None:
        """A message or a command; Ctrl+C before it counts no more."""
        self._last_stop = -TWICE
        await self.talk.take(text, images)

    def stop(self) -> None:
        """Once ends the turn, or empties the box; twice leaves."""
        before, self._last_stop = self._last_stop, time.monotonic()
        if self._last_stop - before < TWICE:
            return self._screen.exit(0)
        if self.questions.cancel():
            return None
        if self.front.session.busy:
            self._screen.run_worker(self.told(self.talk.interrupt()))
            self._screen.note("interrupting; again leaves", TWICE)
        elif self._screen.prompt.text:
            self._screen.prompt.discard()
        else:
            self._screen.note("again leaves", TWICE)

    # Figures

    def changed(self, one: Conversation) -> None:
        """Bring figures and questions in line with a conversation."""
        if one.rings and self._app.settings.file.display.bell_on_complete:
            self._screen.bell()
        one.rings = False
        if one is self.front:
            self._screen.status.facts = facts_of(self._app, one, self.conversations.all)
            began = one.turn_began
            doing = "waiting for your answer" if one.asked else one.activity
            self._screen.activity.show(None if began is None else Work(began, doing, one.queued))
            self.questions.show(one)

    def tick(self) -> None:
        """Once a second: time goes on, also where nothing happens."""
        self._screen.status.facts = facts_of(self._app, self.front, self.conversations.all)
        if self.front.tick():
            self._screen.transcript.soon()


async def open_desk(screen: "HermesScreen", start: Callable[[], Awaitable[Started]], banner: Banner) -> Desk:
    """Open the app and the first session."""
    started = await start()
    conversations = screen.conversations = Conversations(started.app, started.open_session)
    first = await conversations.open(started.wish, banner)
    if notice := offline_notice(started.app, started.wish):
        first.tell(f"· {notice}")
    return Desk(screen, started, first, conversations)


async def _sent(one: Conversation, answer: Answer) -> None:
    await one.session.send(answer)
