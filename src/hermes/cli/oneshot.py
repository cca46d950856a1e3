"""One question, one answer: only the answer goes to stdout, everything else to stderr."""

import argparse
import asyncio
import signal
import sys
from contextlib import aclosing

from hermes.agent.session import Session
from hermes.app import App, Wish
from hermes.app.pictures import picture
from hermes.cli.main import print_error
from hermes.cli.open import open_session
from hermes.commands.offline import offline_notice
from hermes.protocol.errors import UserError
from hermes.protocol.events import Event, ItemDone, Notice, TurnEnded, TurnStarted
from hermes.protocol.items import Part, Reply, Text
from hermes.protocol.ops import Interrupt, Say
from hermes.protocol.wire import encode_event

EXIT = {"done": 0, "failed": 1, "refused": 1, "limit": 3, "interrupted": 130}


async def ask_once(app: App, wish: Wish, query: str, args: argparse.Namespace, piped: str = "") -> int:
    """Open a session, ask, with what was piped in beside the question, print, close."""
    tell_if_offline(app, wish)
    session = await open_session(app, wish)
    after = session.history.seq if wish.resume else 0
    try:
        with stop_on_signals(session) as stop:
            op = await message(app, session, query, *[await picture(session, path) for path in args.image])
            if piped:
                from hermes.cli.attached import quoting

                op = quoting(app, session, op, piped)
            await session.send(op)
            if stop.asked:  # before there was a turn to stop
                await session.send(Interrupt())
            return await _follow(app, session, op, args, after)
    finally:
        await session.close("done")
        if usage_file := getattr(args, "usage_file", None):
            from hermes.cli.usage_file import write_usage

            await write_usage(app, session.id, after, usage_file)
        if getattr(args, "json", False):
            for event in await app.store.events(session.id, session.history.seq - 1):
                print_json(event)
        if session.history.turn == 0:  # it failed before a word was said
            await app.store.delete([session.id])


async def _follow(app: App, session: Session, op: Say, args: argparse.Namespace, after: int) -> int:
    """Print what comes until the turn of this op ends."""
    show = None
    if not (args.quiet or getattr(args, "json", False)):
        from hermes.cli.show import Show

        show = Show(sys.stdout, app.settings.environ)
        show.typed(op.id)
    ours, answer = False, ""
    async with aclosing(session.events(after)) as events:
        async for event in events:
            ours = ours or event.body == TurnStarted(op.id)
            if getattr(args, "json", False):
                print_json(event)
            if isinstance(event.body, Notice) and (show is None or event.body.code == "mcp"):
                if show:
                    show.pen.end()
                print_error(event.body.text)
            elif show:
                show.event(event)
            match event.body:
                case ItemDone(item=Reply(status="done", text=text)) if ours:
                    answer = text
                case Notice(code="unsaved") if not session.busy:
                    return 1
                case TurnEnded() as ended if ours:
                    if args.quiet and not getattr(args, "json", False) and answer:
                        print(answer)
                    return EXIT[ended.reason] if show else finish(ended)
                case _:
                    pass
    raise UserError("the session was closed elsewhere", f"hermes --resume {session.id}")


async def message(app: App, session: Session, text: str, *pictures: Part) -> Say:
    """What a person says, with what it refers to; what cannot be quoted is told on stderr."""
    if "@" not in text:
        return Say(parts=(Text(text), *pictures))
    from hermes.commands.references import expand_in  # a question that refers to nothing does not wait for it

    expanded = await expand_in(app, session, text)
    for warning in expanded.warnings:
        print_error(warning)
    return Say(parts=(*expanded.parts, *pictures), quoted=expanded.quoted)


def print_json(event: Event) -> None:
    sys.stdout.write(encode_event(event).decode() + "\n")
    sys.stdout.flush()


def finish(ended: TurnEnded) -> int:
    """The exit code of a turn, with its error on stderr."""
    if ended.error:
        print_error(ended.error, ended.hint)
    elif ended.reason == "interrupted":
        print_error("interrupted")
    return EXIT[ended.reason]


def tell_if_offline(app: App, wish: Wish) -> None:
    """One line if nothing was chosen and the embedded model is all there is."""
    if notice := offline_notice(app, wish):
        print_error(notice)


class stop_on_signals:
    """While it lasts, Ctrl+C interrupts the turn and a second one, SIGTERM or SIGHUP closes the session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.asked = False
        self._tasks: set[asyncio.Task[object]] = set()

    def __enter__(self) -> "stop_on_signals":
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(signal.SIGINT, self._interrupt)
        for name in (signal.SIGTERM, signal.SIGHUP):
            loop.add_signal_handler(name, self._close)
        return self

    def __exit__(self, *_: object) -> None:
        loop = asyncio.get_running_loop()
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            loop.remove_signal_handler(name)

    def _interrupt(self) -> None:
        if self.asked:
            return self._close()
        self.asked = True
        self._start(self._session.send(Interrupt()))

    def _close(self) -> None:
        self._start(self._session.close("stopped"))

    def _start(self, coroutine: "asyncio._CoroutineLike[object]") -> None:
        task = asyncio.get_running_loop().create_task(coroutine)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
