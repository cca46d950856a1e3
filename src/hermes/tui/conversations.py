"""The sessions that are open on one screen."""

import asyncio
import time
from collections.abc import Awaitable, Callable

from msgspec import Struct

from hermes.agent.session import Session
from hermes.app import App, Wish
from hermes.commands.leaving import close
from hermes.commands.numbers import span
from hermes.commands.transcript import Turn, recap, turns_of
from hermes.tui.banner import Banner
from hermes.tui.blocks import Panel
from hermes.tui.conversation import Conversation

RECAP = 10
"""Exchanges that are shown of a session that goes on."""
OpenSession = Callable[[App, Wish], Awaitable[Session]]


class Entry(Struct, frozen=True):
    """A session in the list of them: where it is open here, `mark` tells what it does, else `age` when it was in use."""

    id: str
    title: str
    mark: str = ""
    age: str = ""


class Conversations:
    """Open sessions in the order in which they were opened. `close` ends them all, and deletes the forgotten one."""

    def __init__(self, app: App, open_session: OpenSession) -> None:
        self.all: list[Conversation] = []
        self.forgotten = ""
        self.changed: Callable[[Conversation], None] = lambda one: None
        self._app = app
        self._open_session = open_session

    async def open(self, wish: Wish, banner: Banner) -> Conversation:
        """Open what is wished, with a page that begins with the banner."""
        session = await self._open_session(self._app, wish)
        display = self._app.settings.file.display
        banner.model, banner.session, banner.folder = session.model.name, session.id, session.world.workspace
        one = Conversation(session, banner, lambda one: self.changed(one), streaming=display.streaming)
        if session.history.turn:
            row = await self._app.store.session(session.id)
            one.cost = row.totals.cost if row and row.totals.cost else None
            turns = await turns_of(self._app.store, session.id)
            one.begin(turns)
            self._recall(one, turns, full=display.resume_display == "full")
        else:
            one.begin()
        self.all.append(one)
        return one

    def _recall(self, one: Conversation, turns: list[Turn], *, full: bool) -> None:
        """What was said before, cut short."""
        told = f"{len(turns)} exchanges so far" if len(turns) != 1 else "one exchange so far"
        said = recap(turns, RECAP) if full else ""
        if said:
            one.page.add(Panel(said, f"{one.title or one.session.id} · {told}"))
        else:
            one.tell(f"· {one.title or one.session.id} · {told}", "$hermes-dim")

    def find(self, session: str) -> Conversation | None:
        return next((one for one in self.all if one.session.id == session), None)

    async def end(self, one: Conversation) -> None:
        """Close a session and forget it."""
        self.all.remove(one)
        await close(self._app, one.session)

    async def close(self) -> None:
        gone = self.forgotten
        await asyncio.gather(*(close(self._app, one.session, forget=one.session.id == gone) for one in self.all))

    async def entries(self, limit: int = 30) -> list[Entry]:
        """Sessions to choose from: those that are open here, then the latest others."""
        here = [Entry(one.session.id, one.title or "(new)", mark_of(one)) for one in self.all]
        rows = await self._app.store.sessions(limit=limit)
        known, now = {entry.id for entry in here}, time.time()
        others = [row for row in rows if row.id not in known]
        return [*here, *(Entry(row.id, row.title or "(no title)", age=span(now - row.active)) for row in others)]


def mark_of(one: Conversation) -> str:
    """What a session does, in one sign."""
    if one.asked:
        return "?"
    return "●" if one.session.busy else "○"
