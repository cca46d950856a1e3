"""Reviews: sessions are read, beside the conversation, for what is worth remembering.

What a person says outright to remember is kept when the turn ends, without a model. Everything else waits until the session
rests or ends, or for every `memory.nudge_interval` turns: the detector reads what came since the last review, and only
where it finds a signal is a model asked, once. How far a session was read is kept in the store, so that nothing is lost if
this process ends first: the next one that has nothing to do takes over.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from typing import TYPE_CHECKING
from weakref import WeakSet

from hermes.agent.aside import ask_aside
from hermes.agent.session import Session
from hermes.app.alongside import Alongside
from hermes.protocol.errors import HermesError, UserError
from hermes.protocol.events import Event, ItemDone, Notice, TurnEnded, TurnStarted, Usage
from hermes.protocol.items import UserMessage, text_of
from hermes.protocol.memories import Reviewed
from hermes.protocol.models import Model
from hermes.store.owner import this_process

if TYPE_CHECKING:
    from hermes.app import App
    from hermes.learning.review.apply import Outcome
    from hermes.learning.review.span import Span

log = logging.getLogger(__name__)
TASK = "background_review"
SETTLING = 2.0
"""Seconds that a session is left alone when it opens: its start belongs to the person."""
IDLE = 300.0
"""Seconds without a turn after which a session rests."""
PATIENCE = 60.0
DAY = 86_400.0
BACKLOG = 14 * DAY
"""How long sessions wait for a review that nobody came to do."""
EMPTY = 3
"""Reviews in a row that found nothing, after which there is none for a day."""
UNREAD = ("cron", "subagent", "batch", "tool")
"""Sources of sessions that no person talks in."""

Tell = Callable[[Notice | Usage], Awaitable[None]]


class Reviews:
    """Follows the sessions of one process."""

    def __init__(self, app: "App", *, settling: float = SETTLING, idle: float = IDLE) -> None:
        self._app = app
        self._settling, self._idle = settling, idle
        self._owner = this_process()
        self._tasks, self._keeping = Alongside(), Alongside()
        self._one_at_a_time = asyncio.Lock()
        self._sweeper: asyncio.Task[None] | None = None
        self._followed: WeakSet[Session] = WeakSet()
        self._tried: set[str] = set()

    def follow(self, session: Session) -> None:
        """Keep what is said in a session, and review it when there is time."""
        self._followed.add(session)
        self._tasks.start(self._quietly(self._follow(session, session.history.seq), session.id))
        if self._sweeper is None:
            self._sweeper = self._tasks.start(self._sweep())

    def follow_once(self, session: Session) -> None:
        """Keep what is said outright to remember in a session that ends too soon to be reviewed."""
        if session.options.source not in UNREAD:
            self._keeping.start(self._quietly(self._keep_wishes(session), session.id))

    async def now(self, session: Session) -> "Outcome | None":
        """Review what came since the last review of an open session; None if that has to wait."""
        from hermes.app.watch import read_span

        mark = await self._app.store.memories.reviewed(session.id)
        span = await read_span(self._app.store, session.id, mark.seq)
        return await self._review(session.id, span, lambda: session.model, self._tell(session), nudged=True)

    async def close(self) -> None:
        await self._keeping.settle(SETTLING)  # they end with their sessions
        await self._keeping.close()
        await self._tasks.close()

    # One session

    async def _follow(self, session: Session, live: int) -> None:
        await asyncio.sleep(self._settling)
        from hermes.app.watch import Watch

        mark = await self._app.store.memories.reviewed(session.id)
        watch = Watch(self._app, session, mark.seq, live)
        rests: asyncio.TimerHandle | None = None
        try:
            async with aclosing(session.events(mark.seq)) as events:
                async for event in events:
                    await self._quietly(watch.take(event), session.id)
                    if isinstance(event.body, TurnStarted | TurnEnded) and rests is not None:
                        rests.cancel()
                    if isinstance(event.body, TurnEnded) and (event.seq or 0) > live:
                        rests = self._after_turn(session, watch.span, event.body)
        finally:
            if rests is not None:
                rests.cancel()
        await asyncio.sleep(self._settling)  # a process that is about to end leaves it to another
        await self._review_closed(session.id)

    async def _keep_wishes(self, session: Session) -> None:
        turn: list[Event] = []
        async with aclosing(session.events(after=session.history.seq)) as events:
            async for event in events:
                turn.append(event)
                if isinstance(event.body, TurnEnded):
                    if _may_hold_wish(turn):
                        from hermes.app.watch import Watch

                        watch = Watch(self._app, session, 0, 0)
                        for each in turn:
                            await watch.take(each)
                    turn = []

    def _after_turn(self, session: Session, span: "Span", ended: TurnEnded) -> asyncio.TimerHandle | None:
        """Review now if it is time for a nudge, else when the session has rested."""
        interval = self._app.settings.file.memory.nudge_interval
        if 0 < interval <= span.turns and ended.reason == "done":
            span.turns = 0
            self._tasks.start(self._review_open(session, span, nudged=True))
            return None
        loop = asyncio.get_running_loop()
        return loop.call_later(self._idle, lambda: self._tasks.start(self._review_open(session, span)))

    async def _review_open(self, session: Session, span: "Span", *, nudged: bool = False) -> None:
        async def review() -> None:
            outcome = await self._review(session.id, span, lambda: session.model, self._tell(session), nudged=nudged)
            if outcome is not None and outcome.line:
                await session.tell(Notice(outcome.line, code="memory"))

        await self._quietly(review(), session.id)

    # Sessions that nobody has open

    async def _sweep(self) -> None:
        """Whenever there is nothing else to do: review one session that was left, and each only once."""
        while True:
            await asyncio.sleep(self._idle)
            if not any(session.busy for session in self._followed):
                await self._quietly(self._take_one(), "of another process")

    async def _take_one(self) -> None:
        left = await self._app.store.memories.unreviewed(time.time() - BACKLOG, UNREAD)
        for name in [name for name in left if name not in self._tried][:1]:
            self._tried.add(name)
            await self._review_closed(name)

    async def _review_closed(self, name: str) -> None:
        await self._quietly(self._read_and_review(name), name)

    async def _read_and_review(self, name: str) -> None:
        from hermes.app.watch import read_span
        from hermes.learning.review.apply import Found, apply_wishes
        from hermes.learning.review.detector import wishes

        row = await self._app.store.session(name)
        if row is None:
            return
        mark = await self._app.store.memories.reviewed(name)
        span = await read_span(self._app.store, name, mark.seq)
        targets = self._app.settings.file.memory.targets
        if targets and (found := wishes(span.items)):
            async with self._app.memory.notebook.change("person", name, found[0].item) as draft:
                apply_wishes(draft.entries, Found(session=name, wishes=found, times=span.times), targets)
        outcome = await self._review(name, span, lambda: self._app.model_of(row), self._spend(name))
        if outcome is not None and outcome.line:
            log.info("session %s was reviewed: %s", name, outcome.line)

    def _tell(self, session: Session) -> Tell:
        """Tell an open session; what was spent counts also if it was closed meanwhile."""

        async def tell(body: Notice | Usage) -> None:
            try:
                await session.tell(body)
            except UserError:
                await self._spend(session.id)(body)

        return tell

    def _spend(self, session: str) -> Tell:
        async def spend(body: Notice | Usage) -> None:
            if isinstance(body, Usage):
                await self._app.store.spend(session, body, time.time())

        return spend

    # A review

    async def _review(
        self, name: str, span: "Span", model: Callable[[], Model], tell: Tell, *, nudged: bool = False
    ) -> "Outcome | None":
        """Read what a span holds; None if it has to wait. Marks the session as read, with what came of it, in one commit."""
        store = self._app.store.memories
        async with self._one_at_a_time:
            if not await store.claim_review(name, self._owner):
                return None
            try:
                return await self._claimed(name, span, model, tell, nudged)
            finally:
                await store.release_review(name, self._owner)

    async def _claimed(
        self, name: str, span: "Span", model: Callable[[], Model], tell: Tell, nudged: bool
    ) -> "Outcome | None":
        from hermes.learning.review.apply import Found, Outcome, apply_deltas
        from hermes.learning.review.detector import signals
        from hermes.learning.review.question import ask_about, read_answer
        from hermes.learning.review.settled import settled

        store, targets = self._app.store.memories, self._app.settings.file.memory.targets
        items, seq, foreign = tuple(span.items), span.seq, span.is_foreign()
        found = signals(items)
        done = await store.reviewed(name)
        kept, clear = settled(items, await store.entries(), name, span.times)
        if not signals(items, clear) or not targets or (done.calls and not nudged):
            await store.commit([], reviewed=Reviewed(session=name, seq=seq))
            span.forget(len(items))
            return Outcome()
        if (asked := model()).profile == "small" or not await self._may_ask():
            return None
        question = ask_about(items, found, await store.entries("active"))
        deltas = read_answer(await self._ask(asked, question.text, tell), question.labels)
        async with self._app.memory.notebook.change("review", name) as draft:
            what = Found(session=name, signals=found, deltas=deltas, foreign=foreign, times=span.times)
            outcome = apply_deltas(draft.entries, what, targets)
            # A stretch of which something was kept was not read in vain, whoever kept it.
            count = outcome.total + len(kept)
            draft.reviewed = Reviewed(session=name, seq=seq, calls=1, kept=count, at=time.time())
        span.forget(len(items))
        return outcome

    async def _ask(self, model: Model, text: str, tell: Tell) -> str:
        from hermes.learning.review.question import MOST_OUTPUT, SYSTEM

        entry = self._app.settings.file.auxiliary.get(TASK)
        chosen, masked = self._app.auxiliary(TASK, model), self._app.mask(text)
        async with asyncio.timeout((entry and entry.timeout) or PATIENCE):
            aside = await ask_aside(chosen, system=SYSTEM, text=masked, purpose="review", max_output=MOST_OUTPUT)
        await tell(aside.usage)
        return aside.text

    async def _may_ask(self) -> bool:
        """Whether a model may be asked now: not more often than the settings allow in a day, nor in vain again and again."""
        kept = self._app.settings.file.memory
        now = time.time()
        today = time.strftime("%Y-%m-%d", time.localtime(now))
        calls = sum(
            row.calls for row in await self._app.store.usage(now) if row.purpose == "review" and row.day == today
        )
        if calls >= kept.reviews_per_day:
            return False
        last = await self._app.store.memories.recent_reviews(EMPTY)
        in_vain = len(last) == EMPTY and not any(review.kept for review in last)
        return not in_vain or now - last[0].at > DAY

    async def _quietly(self, work: Awaitable[None], session: str) -> None:
        """Nothing that goes wrong here may touch the conversation; what was not reviewed waits."""
        try:
            await work
        except (HermesError, TimeoutError) as error:
            log.info("session %s was not reviewed: %s", session, error or "no answer in time")


def _may_hold_wish(events: list[Event]) -> bool:
    from hermes.learning.review.outright import may_be_wish

    items = [event.body.item for event in events if isinstance(event.body, ItemDone)]
    return any(isinstance(item, UserMessage) and may_be_wish(text_of(item.parts)) for item in items)
