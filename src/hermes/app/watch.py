"""What is done with a session's turns as they end: keep what the person said to remember, count what was of use."""

from typing import TYPE_CHECKING

from hermes.agent.session import Session
from hermes.learning.memory.block import quoted
from hermes.learning.review.apply import Found, apply_wishes
from hermes.learning.review.detector import is_correction, is_person, wishes
from hermes.learning.review.span import Span
from hermes.learning.review.usefulness import used
from hermes.protocol.events import Event, ItemDone, Notice, TurnEnded
from hermes.protocol.store import Log

if TYPE_CHECKING:
    from hermes.app import App


class Watch:
    """One session as its reviews see it. What happened before `live` was counted by whoever saw it happen."""

    def __init__(self, app: "App", session: Session, seq: int, live: int) -> None:
        self.span = Span(seq)
        self._app = app
        self._session = session
        self._live = live
        self._used: list[int] = []

    async def take(self, event: Event) -> None:
        self.span.take(event)
        if (event.seq or 0) <= self._live:
            return
        match event.body:
            case ItemDone(item=item) if self._used and is_person(item):
                was_wrong, ids = is_correction(item), self._used
                self._used = []
                await self._app.store.memories.count(() if was_wrong else ids, ids if was_wrong else ())
            case TurnEnded(reason=reason):
                await self._keep_wishes(event.turn)
                self._used = await self._used_in(event.turn) if reason == "done" else []
            case _:
                pass

    async def _keep_wishes(self, turn: int) -> None:
        targets = self._app.settings.file.memory.targets
        found = wishes(self.span.turn(turn))
        if not found or not targets:
            return
        name = self._session.id
        async with self._app.memory.notebook.change("person", name, found[0].item) as draft:
            outcome = apply_wishes(draft.entries, Found(session=name, wishes=found, times=self.span.times), targets)
        if outcome.line:
            await self._session.tell(Notice(outcome.line, code="memory"))

    async def _used_in(self, turn: int) -> list[int]:
        """Entries in this session's prompt that a turn made use of."""
        entries = await self._app.store.memories.entries("active")
        system = f"{self._session.system}\n"
        return used([row for row in entries if f"\n{quoted(row.content)}\n" in system], self.span.turn(turn))


async def read_span(store: Log, session: str, after: int = 0) -> Span:
    """What a stored session holds behind an event."""
    span = Span(after)
    while events := await store.events(session, after):
        for event in events:
            span.take(event)
        after = events[-1].seq or after
    return span
