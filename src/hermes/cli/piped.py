"""A conversation through a pipe: each line is a message, nobody is asked, the end of the input is the end."""

import asyncio
import signal
import sys
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing

from hermes.agent.session import Session
from hermes.app import App, Wish
from hermes.cli.main import print_error
from hermes.cli.oneshot import EXIT, message, print_json
from hermes.cli.open import open_session
from hermes.cli.reader import Lines, piped_lines
from hermes.cli.show import Show
from hermes.commands.leaving import close
from hermes.protocol.errors import UserError
from hermes.protocol.events import Event, Notice, TurnEnded, TurnStarted
from hermes.protocol.ops import Interrupt, Receipt


class Pipe:
    """Answers the lines of stdin, one turn each; Ctrl+C and SIGTERM end the turn and read no more."""

    def __init__(self, app: App, wish: Wish, *, as_json: bool) -> None:
        self._app, self._wish = app, wish
        self._show = Show(sys.stdout, app.settings.environ)
        self._as_json = as_json
        self._draw: Callable[[Event], None] = print_json if as_json else self._show.event
        self._stopping: list[asyncio.Task[Receipt]] = []

    async def run(self) -> int:
        """The exit code of the last turn, 0 if there was none."""
        session, lines = await open_session(self._app, self._wish), piped_lines()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self._stop, session, lines)
        self._seq = 0 if self._as_json and not self._wish.resume else session.history.seq
        try:
            code = await self._answer_all(session, lines)
            await session.close("left")
            for event in await self._app.store.events(session.id, self._seq):
                self._draw(event)
            return EXIT["interrupted"] if self._stopping else code
        finally:
            await close(self._app, session)
            await asyncio.gather(*self._stopping, return_exceptions=True)

    async def _answer_all(self, session: Session, lines: Lines) -> int:
        code = 0
        async with aclosing(session.events(self._seq)) as events:
            while (line := await lines.next()) is not None:
                if line.strip():
                    code = await self._answer(session, events, line.rstrip("\n"))
        return code

    async def _answer(self, session: Session, events: AsyncGenerator[Event], line: str) -> int:
        try:
            op = await message(self._app, session, line)
        except UserError as error:
            print_error(error, error.hint)
            return EXIT["failed"]
        self._show.typed(op.id)
        await session.send(op)
        turn = 0
        async for event in events:
            self._seq = event.seq or self._seq
            self._draw(event)
            match event.body:
                case TurnStarted(op=started) if started == op.id:
                    turn = event.turn
                case TurnEnded(reason=reason) if event.turn == turn:
                    return EXIT[reason]
                case Notice(code="unsaved"):
                    return EXIT["failed"]
                case _:
                    pass
        raise UserError("the session was closed elsewhere", f"hermes --resume {session.id}")

    def _stop(self, session: Session, lines: Lines) -> None:
        lines.end()
        self._stopping.append(asyncio.create_task(session.send(Interrupt())))
