"""The session: an actor around the turn. Ops go in, events come out, and what was acknowledged is on disk."""

import asyncio
import logging
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing
from typing import Any

import msgspec
from msgspec import Struct

from hermes.agent.budget import Meter
from hermes.agent.compaction.compactor import Compactor, Preview
from hermes.agent.compaction.leaf import Summarise
from hermes.agent.desk import AsItIs, Masking, World
from hermes.agent.endings import ending, why_open
from hermes.agent.history import History
from hermes.agent.inbox import Inbox
from hermes.agent.questions import Questions
from hermes.agent.recorder import Recorder
from hermes.agent.recovery import interrupt, recover
from hermes.agent.toolbox import Supply, Toolbox
from hermes.agent.turn import expected_tokens, turn
from hermes.protocol.errors import LeaseLost, StoreError, UserError
from hermes.protocol.events import (
    Answered,
    Changed,
    Event,
    ItemDone,
    Notice,
    Prefix,
    Request,
    SessionClosed,
    SessionOpened,
    TurnEnded,
    TurnStarted,
    Usage,
)
from hermes.protocol.ids import new_id, session_id
from hermes.protocol.items import Text, UserMessage, text_of
from hermes.protocol.models import Model
from hermes.protocol.ops import (
    Answer,
    AnyOp,
    Budget,
    Close,
    Compact,
    Configure,
    Interrupt,
    Receipt,
    Redirect,
    Rewind,
    Say,
)
from hermes.protocol.store import Batch, Blob, JournalRow, SessionRow, Store
from hermes.protocol.tools import Tool

log = logging.getLogger(__name__)
HEARTBEAT = 10.0
TITLE_LENGTH = 60


class Options(Struct, frozen=True, kw_only=True):
    """Everything a session uses. Nothing is global to the process.

    `model_named` finds the model of a Configure, `toolset` its tools; `supply` has tools that come and go; `mask` takes secrets
    out of what tools give, `masking` out of what they say while they run; `persona` gives the system text with a personality in it; `summarise` condenses what has become too
    long, which happens by itself if the session `condenses`; `can_ask` is False where nobody
    will ever answer; `owner` names this process in the session's lease; with `restore` a resumed session has the tools and the
    budget again that it was configured with.
    """

    model: Model
    system: str
    tools: tuple[Tool, ...]
    world: World
    owner: str
    version: str
    cwd: str
    source: str = "cli"
    parent: str = ""
    budget: Budget = Budget()
    can_ask: bool = True
    restore: bool = True
    effort: str = ""
    above: Meter | None = None
    model_named: Callable[[str], Model] | None = None
    toolset: Callable[[tuple[str, ...]], tuple[Tool, ...]] | None = None
    supply: Supply | None = None
    persona: Callable[[str], str] | None = None
    summarise: Summarise | None = None
    condenses: bool = True
    set_approvals: Callable[[str], None] | None = None
    mask: Callable[[str], str] = lambda text: text
    masking: Callable[[], Masking] = AsItIs
    blob: Callable[[bytes, str], Blob]
    now: Callable[[], float] = time.time


class Session:
    """One conversation, owned by one process. All its state is here."""

    def __init__(self, store: Store, options: Options, row: SessionRow, history: History) -> None:
        self.id = self.session = row.id
        self.surface = options.source
        self.options = options
        self.world = options.world
        self.history = history
        self.model = options.model
        self.system = options.system
        self.tools = Toolbox(options.tools, options.supply)
        self.effort = options.effort
        self.mask = options.mask
        self.masking = options.masking
        self.budget = options.budget
        self.meter = Meter(self.budget, options.above)
        self._store = store
        self._recorder = Recorder(store, row.id, options.owner, history, row.parent, options.now)
        self._inbox = Inbox(store, row.id)
        self._questions = Questions(self._recorder, options.now)
        self._queue: deque[Say] = deque()
        self._joining: deque[Redirect] = deque()
        self._compactor = Compactor(
            history,
            self._recorder,
            window=lambda: self.model.window,
            used=lambda: expected_tokens(self),
            summarise=options.summarise,
            by_itself=options.condenses,
            charge=lambda usage: self.meter.charge(usage) if self.busy else None,
            renew=self._renew_system,
        )
        self._turn: asyncio.Task[None] | None = None
        self._turn_began = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []
        self._posts: set[asyncio.Task[Receipt]] = set()
        self._closing: asyncio.Task[None] | None = None
        self._closed = asyncio.Event()

    # Opening and closing

    @classmethod
    async def create(cls, store: Store, options: Options, name: str = "", forked_from: str = "") -> "Session":
        """Open a new session."""
        now = options.now()
        row = SessionRow(
            id=name or session_id(now),
            source=options.source,
            model=options.model.name,
            cwd=options.cwd,
            parent=options.parent,
            forked_from=forked_from,
            started=now,
        )
        session = cls(store, options, row, History())
        prefix, blobs = session._prefix()
        opened = SessionOpened(
            source=row.source,
            model=row.model,
            cwd=row.cwd,
            version=options.version,
            forked_from=forked_from,
            prefix=prefix,
        )
        event = Event(session=row.id, parent=row.parent, seq=1, at=now, body=opened)
        await store.create(row, Batch(events=(event,), blobs=blobs), options.owner)
        session._recorder.opened(event)
        session._start()
        return session

    @classmethod
    async def resume(cls, store: Store, options: Options, name: str) -> "Session":
        """Open a stored session again, closing whatever a crash left open; UserError if another process has it."""
        row = await store.session(name)
        if row is None:
            raise UserError(f"there is no session {name!r}", "hermes sessions list shows them")
        if not await store.claim(row.id, options.owner):
            raise UserError(
                f"session {row.id} is open in another process ({_place(row.owner)})", "close it there first"
            )
        try:
            await options.world.recover()
            session = cls(store, options, row, await read_history(store, row.id))
            await session._go_on()
        except BaseException:
            await store.release(row.id, options.owner)
            raise
        session._start()
        await session._inbox.fetch()
        return session

    async def _go_on(self) -> None:
        """Bring a log whose owner is gone to an orderly end, and be configured as it was."""
        options, history = self.options, self.history
        if options.restore:
            self.budget = history.budget or self.budget
            self.effort = history.effort if history.effort is not None else self.effort
            if history.tools and options.toolset:
                self.tools.use(options.toolset(history.tools))
        journal = await self._store.unfinished(self.id)
        for body in recover(history, journal):
            self._recorder.note(body)
        for entry in journal:
            self._recorder.end(entry.ref)
        for op in await self._store.pending(self.id):
            if isinstance(op, Interrupt | Answer | Close):  # meant for the owner that is gone
                self._recorder.apply(op.id)
        await self._keep_system()
        if self.tools.settled:
            await self._keep_prefix("resumed")
        await self._recorder.commit()

    async def close(self, reason: str = "") -> None:
        """End the turn, write the end, let go of the session."""
        if self._closing is None:
            self._closing = asyncio.create_task(self._shut(reason))
        await asyncio.shield(self._closing)

    async def closed(self) -> None:
        await self._closed.wait()

    # The two directions

    async def send(self, op: AnyOp) -> Receipt:
        """Hand an op in; returns once it is on disk. A repeated id returns the first receipt and has no second effect."""
        if self._closed.is_set():
            raise UserError(f"session {self.id} is closed", "open it again with --resume")
        if self._recorder.lost is not None:
            raise self._recorder.lost
        return await self._inbox.put(op)

    async def events(self, after: int = 0) -> AsyncGenerator[Event]:
        """Everything behind seq `after`, then what happens as it happens; ends when the session is closed."""
        async with aclosing(
            self._recorder.listeners.follow(after, lambda seq: self._store.events(self.id, seq))
        ) as events:
            async for event in events:
                yield event

    @property
    def busy(self) -> bool:
        return self._turn is not None

    @property
    def closing(self) -> bool:
        """Whether its end has begun: nothing more is told to it."""
        return self._closing is not None or self._closed.is_set()

    def preview(self) -> Preview:
        """What compaction would do now."""
        return self._compactor.preview()

    # Desk: what the turn uses

    def joined(self) -> list[UserMessage]:
        messages: list[UserMessage] = []
        while self._joining:
            op = self._joining.popleft()
            message = self._message(op, "redirect")
            messages.append(msgspec.structs.replace(message, index=message.index + len(messages)))
            self._recorder.apply(op.id)
        return messages

    async def make_room(self, *, refused: bool = False) -> bool:
        return await self._compactor.make_room(refused=refused)

    async def begin(self, row: JournalRow) -> None:
        await self._recorder.begin(row)

    def end(self, ref: str) -> None:
        self._recorder.end(ref)

    async def ask(self, request: Request, item: str, within: float) -> Answered | None:
        """Ask a person; None if there is nobody to ask."""
        return await self._questions.ask(request, item, within) if self.options.can_ask else None

    async def tell(self, body: Notice | Usage) -> None:
        """Put what happened beside the conversation into the log; it starts no turn, and the model does not see it."""
        if self.closing:
            raise UserError(f"session {self.id} is closed", "open it again with --resume")
        await self._note(body)

    def post(self, text: str) -> None:
        if not self._closed.is_set():
            task = asyncio.create_task(self.send(Say(by="process", origin="process", parts=(Text(text),))))
            self._posts.add(task)
            task.add_done_callback(self._posted)

    def _posted(self, task: asyncio.Task[Receipt]) -> None:
        self._posts.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.warning("session %s lost a notification: %s", self.id, error)

    async def keep(self, data: bytes, media_type: str) -> str:
        return await self._store.keep(self.id, data, media_type)

    async def blob(self, ref: str) -> bytes:
        return await self._store.get(ref, self.id)

    def now(self) -> float:
        return self.options.now()

    # The actor: ops one at a time, in the order of their rows

    def _start(self) -> None:
        self._tasks = [
            asyncio.create_task(self._serve()),
            asyncio.create_task(self._beat()),
            asyncio.create_task(self._inbox.watch()),
        ]

    async def _serve(self) -> None:
        while True:
            op = await self._inbox.next()
            try:
                await self._handle(op)
            except Exception as error:  # one op that fails must not silence the session
                log.exception("session %s could not take %s", self.id, type(op).__name__)
                if self._recorder.lost is not None:
                    await self._let_go()
                    return
                self._recorder.note(
                    Notice(f"{type(op).__name__} failed: {error}", level="error", code="failed"), applied=(op.id,)
                )
                await self._recorder.commit_or_tell()

    async def _handle(self, op: AnyOp) -> None:
        if self._closing is not None:
            return None  # its row stays, and whoever opens the session next takes it
        current = self.history.turn
        if op.expect_turn is not None and op.expect_turn != current:
            why = f"it was meant for turn {op.expect_turn}, and this is turn {current}"
            return await self._note(Notice(f"{type(op).__name__} had no effect: {why}", code="stale"), op)
        match op:
            case Say():
                await self._say(op)
            case Redirect() if self._turn is not None:
                self._joining.append(op)
            case Redirect():
                await self._say(_as_say(op))
            case Interrupt():
                await self._interrupt(op)
            case Answer():
                self._questions.answer(op)
                self._recorder.apply(op.id)
            case Configure():
                await self._configure(op)
            case Compact(focus=focus, keep=keep):
                self._compactor.condense(focus, keep)
                self._recorder.apply(op.id)
                await self._recorder.commit()
            case Rewind():
                await self._rewind(op)
            case Close():
                self._recorder.apply(op.id)
                await self.close(op.reason)

    async def _say(self, op: Say) -> None:
        if self._turn is None and not self._queue:
            self._start_turn(op)
        else:
            self._queue.append(op)
            await self._note(Changed("queue", queue=tuple(waiting.id for waiting in self._queue)))

    async def _interrupt(self, op: Interrupt) -> None:
        if op.turn in (None, self.history.turn):
            await self._stop_turn()
        if op.background and (count := await self.world.stop_background()):
            await self._note(Notice(f"ended {count} background processes", code="stopped"))
        self._recorder.apply(op.id)
        await self._recorder.commit()

    async def _configure(self, op: Configure) -> None:
        try:
            if op.model is not None and self.options.model_named is not None:
                self.model = self.options.model_named(op.model)
            if op.personality is not None and self.options.persona is not None:
                self.system = self.options.persona(op.personality)
        except UserError as error:
            return await self._note(Notice(f"{error} ({error.hint})", level="error", code="config"), op)
        if op.tools is not None and self.options.toolset is not None:
            self.tools.use(self.options.toolset(op.tools))
        if op.cwd is not None:
            await self.world.move(op.cwd)
        if op.approvals is not None and self.options.set_approvals is not None:
            self.options.set_approvals(op.approvals)
        if op.budget is not None:
            self.budget = op.budget
        if op.effort is not None:
            self.effort = op.effort
        if op.title is not None:
            self._recorder.note(Changed("title", title=op.title))
        if op.model is not None or op.tools is not None or op.personality is not None:
            await self._keep_prefix("model" if op.model else "tools" if op.tools is not None else "personality")
        await self._note(Changed("config", config=op), op)

    async def _rewind(self, op: Rewind) -> None:
        if self._turn is not None:
            return await self._note(Notice("stop the running turn first, then rewind", code="busy"), op)
        last = self.history.turn
        if not 1 <= op.to <= last:
            return await self._note(Notice(f"there is no turn {op.to} to go back to", code="rewind"), op)
        await self._note(Changed("rewound", turns=(op.to, last)), op)

    async def _renew_system(self) -> None:
        """Where the view breaks the prefix anyway, the system text is what it would be today."""
        if self.options.persona is not None:
            self.system = self.options.persona(self.history.personality)
            await self._keep_prefix("compaction")

    # A turn

    def _start_turn(self, op: Say) -> None:
        self._turn_began.clear()
        self._turn = asyncio.create_task(self._run_turn(op))

    async def _run_turn(self, op: Say) -> None:
        """Run one turn to exactly one TurnEnded. It counts as failed until it is proved otherwise."""
        self._turn_began.set()
        self._compactor.between_turns = True
        ended = TurnEnded("failed", error="the turn ended in a way that Hermes did not foresee")
        self.meter = Meter(self.budget, self.options.above)
        try:
            self._recorder.start_turn(TurnStarted(op.id), applied=(op.id,))
            self._recorder.note(ItemDone(self._message(op, op.origin)))
            if self.history.turn == 1 and not self.history.title:
                self._recorder.note(Changed("title", title=title_of(text_of(op.parts))))
            await self._renew_tools()
            async with asyncio.timeout(self.budget.seconds), aclosing(turn(self)) as bodies:
                async for body in bodies:
                    self._recorder.note(body)
            ended = TurnEnded("done")
        except asyncio.CancelledError:
            ended = TurnEnded("interrupted")
        except Exception as error:
            ended = ending(error, self.budget)
        finally:
            await self._end_turn(ended)

    async def _renew_tools(self) -> None:
        """A turn's boundary is where tools that came, went or changed reach the prefix: one announced break for all."""
        first = not self.tools.settled
        await self.tools.settle()
        if self.tools.renew() or first:
            await self._keep_prefix("tools")

    async def _end_turn(self, ended: TurnEnded) -> None:
        for item in tuple(self.history.open.values()):
            done = interrupt(item, self._recorder.partial(item.id), self.history.answered, why_open(ended))
            self._recorder.note(ItemDone(done))
        for request_id in tuple(self.history.asked):
            self._recorder.note(Answered(request_id, how="cancelled"))
        self._recorder.end_all()
        self._recorder.note(ended)
        self._queue.extendleft(_as_say(op) for op in reversed(self._joining))
        self._joining.clear()
        self._turn = None  # before anybody hears of the end: whoever does may go on at once
        await self._recorder.commit_or_tell()
        if self._closing is None and self._recorder.lost is None:
            self._compactor.end_turn()
        if self._turn is None and self._queue and self._recorder.lost is None and self._closing is None:
            self._start_turn(self._queue.popleft())

    def _message(self, op: Say | Redirect, origin: Any) -> UserMessage:
        return UserMessage(
            id=new_id(),
            turn=self.history.turn,
            step=self.history.step,
            index=self.history.next_index(),
            source=op.quoted or op.by,
            trust="untrusted" if op.quoted else "workspace" if origin == "process" else "trusted",
            parts=op.parts,
            origin=origin,
            sender=op.sender,
        )

    # Bookkeeping

    async def _note(self, body: Any, op: AnyOp | None = None) -> None:
        self._recorder.note(body, applied=(op.id,) if op else ())
        await self._recorder.commit()

    def _prefix(self) -> tuple[Prefix, tuple[Blob, ...]]:
        """System text and tools as they are sent, by hash."""
        system = self.options.blob(self.system.encode(), "text/plain")
        tools = self.options.blob(msgspec.json.encode(self.tools.specs), "application/json")
        return Prefix(system.hash, tools.hash), (system, tools)

    async def _keep_system(self) -> None:
        """Go on with the stored system text, byte for byte."""
        if stored := self.history.prefix:
            self.system = (await self._store.get(stored.system, self.id)).decode()

    async def _keep_prefix(self, why: str) -> None:
        """Announce a break if what is sent is not what is stored."""
        prefix, blobs = self._prefix()
        if prefix != self.history.prefix or why == "model":
            self._recorder.note(Changed("prefix", why=why, prefix=prefix), blobs=blobs)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(HEARTBEAT)
            try:
                if not await self._store.beat(self.id, self.options.owner):
                    self._recorder.lost = LeaseLost(f"session {self.id} was taken over by another process")
                    return await self._let_go()
            except StoreError as error:
                log.warning("session %s has no heartbeat: %s", self.id, error)

    async def _stop_turn(self) -> None:
        """Cancel the running turn, once, and wait until its end is written."""
        running = self._turn
        if running is None:
            return
        await self._turn_began.wait()  # a task that is cancelled before its first step would never write its end
        while not running.done():
            # anyio takes a cancellation for its own if it comes at the moment a connection is made: ask again.
            if not running.cancelling():
                running.cancel()
            await asyncio.wait([running], timeout=0.05)

    async def _shut(self, reason: str) -> None:
        self._queue.clear()
        await self._stop_turn()
        await self._compactor.close()
        self._recorder.note(SessionClosed(reason))
        try:
            for write in (self._recorder.commit, lambda: self._store.release(self.id, self.options.owner)):
                try:
                    await write()
                except StoreError as error:
                    log.warning("session %s could not write its end: %s", self.id, error)
        finally:
            await self._let_go()

    async def _let_go(self) -> None:
        self._closed.set()
        if self._turn is not None:
            self._turn.cancel()
        for task in self._tasks:
            if task is not asyncio.current_task():
                task.cancel()
        self._recorder.close()
        await self.world.close()


async def read_history(store: Store, session: str) -> History:
    """Fold a stored session's events."""
    history = History()
    while events := await store.events(session, history.seq):
        for event in events:
            history.apply(event)
    return history


def _place(owner: str) -> str:
    """Where an owner is, for a person: its name begins with host and process."""
    host, _, rest = owner.partition(":")
    return f"{rest.partition(':')[0]} on {host}"


def title_of(text: str) -> str:
    """A title from a first message: its first line, cut at a word."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    if len(line) <= TITLE_LENGTH:
        return line
    return line[:TITLE_LENGTH].rsplit(" ", 1)[0].rstrip(".,;:") + "…"


def _as_say(op: Redirect) -> Say:
    return Say(id=op.id, by=op.by, parts=op.parts, sender=op.sender, quoted=op.quoted)
