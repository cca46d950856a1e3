"""The plain line chat: type a line, read the answer."""

import argparse
import asyncio
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import aclosing, contextmanager

from msgspec.structs import replace

import hermes
from hermes.agent.session import Session
from hermes.app import App, Wish
from hermes.cli.keyboard import Keyboard
from hermes.cli.oneshot import EXIT, tell_if_offline
from hermes.cli.open import open_session
from hermes.cli.piped import Pipe
from hermes.cli.questions import Questions
from hermes.cli.show import Show
from hermes.commands.builtin import ask_no_more, registry_of
from hermes.commands.leaving import close
from hermes.commands.references import expand_in
from hermes.commands.registry import Screen, Surface, Typed
from hermes.commands.transcript import recap, turns_of
from hermes.protocol.errors import HermesError, UserError
from hermes.protocol.events import Answered, Asked, Event, Notice, TurnEnded, TurnStarted
from hermes.protocol.ops import AnyOp, Configure, Interrupt, Redirect, Say

TWICE = 2.0
"""Seconds within which a second Ctrl+C leaves."""
RECAP = 5


class LineChat:
    """A conversation in a terminal, or through a pipe where there is none. A surface of the slash commands."""

    surface: Surface = "terminal"
    session: Session

    def __init__(self, app: App, wish: Wish, args: argparse.Namespace) -> None:
        self.app = app
        self.registry = registry_of(app)
        self._wish = wish
        self._json: bool = vars(args).get("json", False)
        settings = app.settings
        self._show = Show(sys.stdout, settings.environ, streaming=settings.file.display.streaming)
        self._turns: dict[int, str] = {}
        self._ends: dict[str, asyncio.Future[None]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._last_ctrl_c = -TWICE
        self._code = 0
        self._forgotten = ""

    async def run(self) -> int:
        """Talk until the person leaves; returns the exit code."""
        tell_if_offline(self.app, self._wish)
        if self._json or not (sys.stdin.isatty() and sys.stdout.isatty()):
            return await Pipe(self.app, replace(self._wish, can_ask=False), as_json=self._json).run()
        self._keyboard = Keyboard(self.app.settings.home / "history", self._show.pen)
        self._questions = Questions(
            self._keyboard, draw=self._draw, say=self._say, send=self._answer, leave=self._leave
        )
        self._use(await open_session(self.app, self._wish))
        self._talking = asyncio.create_task(self._talk())
        try:
            with self._signals():
                await asyncio.wait([self._talking])
        finally:
            self._keyboard.close()
            await close(self.app, self.session, forget=self.session.id == self._forgotten)
            await self._following
        if not self._talking.cancelled():
            self._talking.result()
        if self.session.history.turn and not self._forgotten:
            self._show.line(f"To go on: hermes --resume {self.session.id}", "dim")
        return self._code

    # Sessions

    def _use(self, session: Session) -> None:
        """Make this the session that is talked to."""
        self.session = session
        self._turns.clear()
        self._following = asyncio.create_task(self._follow(session))

    async def _greet(self) -> None:
        session = self.session
        where = (f"Hermes {hermes.__version__}", session.model.name, session.world.workspace, session.id)
        self._show.line(" · ".join(where), "bold")
        self._show.line("/help lists the commands, Ctrl+D leaves", "dim")
        if said := recap(await turns_of(self.app.store, session.id), RECAP):
            self._show.reply(said)

    async def _switch(self, resume: str = "", title: str = "") -> None:
        old, following = self.session, self._following
        self._use(await open_session(self.app, replace(self._wish, resume=resume)))
        await close(self.app, old)
        await following
        await self._greet()
        if title:
            await self.session.send(Configure(title=title))

    async def _follow(self, session: Session) -> None:
        try:
            async with aclosing(session.events(session.history.seq)) as events:
                async for event in events:
                    self._see(event)
        finally:
            if session is self.session and not self._talking.done():
                self._say("the session was closed elsewhere")
                self._leave()

    def _see(self, event: Event) -> None:
        match event.body:
            case Asked() as asked:
                return self._questions.ask(event, asked)
            case Answered(request_id=request_id):
                self._questions.over(request_id)
            case TurnStarted(op=op):
                self._turns[event.turn] = op
            case TurnEnded():
                self._over(self._turns.pop(event.turn, ""))
            case Notice(code="stale" | "unsaved"):
                for op in tuple(self._ends):
                    self._over(op)
            case _:
                pass
        self._draw(event)

    def _over(self, op: str) -> None:
        if (end := self._ends.pop(op, None)) and not end.done():
            end.set_result(None)

    # The conversation

    async def _talk(self) -> None:
        await self._greet()
        goes_on = True
        while goes_on:
            text = await self._message()
            if text is None:
                return
            self._last_ctrl_c = -TWICE
            try:
                goes_on = await self._take(text)
            except UserError as error:
                self._say(f"{error} ({error.hint})" if error.hint else str(error))
            except HermesError as error:
                self._say(str(error))

    async def _message(self) -> str | None:
        """What is typed, over several lines if they end in a backslash; None when the input ends."""
        self._show.before_prompt()
        lines: list[str] = []
        while (line := await self._keyboard.line()) is not None:
            if self._questions.answers_too_late(line):
                self._say("that question is over")
                continue
            self._keyboard.remember(line)
            if not line.endswith("\\"):
                return "\n".join([*lines, line])
            lines.append(line[:-1])
        return "\n".join(lines) or None

    async def _take(self, text: str) -> bool:
        """Do what was typed; False to leave."""
        if not text.strip():
            return True
        typed = self.registry.read(text, self.surface)
        if typed is None:
            expanded = await expand_in(self.app, self.session, text)
            for warning in expanded.warnings:
                self._say(warning)
            message = Say(parts=expanded.parts, quoted=expanded.quoted)
            self._show.typed(message.id)
            await self._send(message)
            return True
        if typed.question and not await self._confirm(typed):
            return True
        outcome = await typed.run(self)
        if outcome.reply:
            self._show.reply(outcome.reply)
        for op in outcome.ops:
            await self._send(op)
        return await self._do(outcome.screen) if outcome.screen else True

    async def _send(self, op: AnyOp) -> None:
        """Hand an op in; what starts a turn is waited for."""
        starts = isinstance(op, Say) or (isinstance(op, Redirect) and not self.session.busy)
        if not starts:
            await self.session.send(op)
            return
        end = self._ends[op.id] = asyncio.get_running_loop().create_future()
        await self.session.send(op)
        await end

    async def _confirm(self, typed: Typed) -> bool:
        self._keyboard.forget_typed()
        self._say(f"{typed.question} [y]es, [a]lways without asking, [N]o")
        answer = (await self._keyboard.line(fresh=True) or "").strip().lower()
        if answer in ("a", "always"):
            await ask_no_more(self.app, typed.command)
        return answer in ("y", "yes", "a", "always")

    async def _do(self, screen: Screen) -> bool:
        match screen.action:
            case "quit":
                self._forgotten = screen.data
                return False
            case "new":
                await self._switch(title=screen.data)
            case "resume":
                await self._switch(resume=screen.data)
            case "clear":
                self._show.pen.clean()
                await self._switch()
            case "sessions":
                self._show.reply(screen.data)
            case "details" if screen.data.startswith("thoughts "):
                self._show.thoughts = screen.data == "thoughts open"
                self._say("thoughts are shown" if self._show.thoughts else "thoughts are hidden")
            case "redraw":
                self._show.pen.clean()
                await self._greet()
            case "copy":
                done = self._show.pen.copy(screen.data)
                self._say("copied, if the terminal lets programs do that" if done else "this terminal cannot copy")
            case _:
                self._say(f"/{screen.action} is for the full screen: hermes --tui")
        return True

    async def _answer(self, op: AnyOp) -> None:
        await self.session.send(op)

    # Drawing, signals

    def _draw(self, event: Event) -> None:
        self._keyboard.hide()
        self._show.pen.steady = self._keyboard.reading
        self._show.event(event)
        if self._show.pen.at_start:
            self._keyboard.redraw()

    def _say(self, text: str) -> None:
        self._keyboard.hide()
        self._show.line(text, "yellow")
        self._keyboard.redraw()

    @contextmanager
    def _signals(self) -> Iterator[None]:
        loop = asyncio.get_running_loop()
        handlers = {signal.SIGINT: self._ctrl_c, signal.SIGTERM: self._stop, signal.SIGHUP: self._stop}
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler)
        try:
            yield
        finally:
            for number in handlers:
                loop.remove_signal_handler(number)

    def _ctrl_c(self) -> None:
        """Once ends the turn, twice leaves."""
        before, self._last_ctrl_c = self._last_ctrl_c, time.monotonic()
        if self._last_ctrl_c - before < TWICE:
            return self._leave()
        if not self.session.busy:
            return self._say("Ctrl+C again leaves")
        task = asyncio.create_task(self._interrupt())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _interrupt(self) -> None:
        try:
            await self.session.send(Interrupt())
        except HermesError as error:
            self._say(str(error))

    def _stop(self) -> None:
        self._code = EXIT["interrupted"]
        self._leave()

    def _leave(self) -> None:
        self._talking.cancel()
