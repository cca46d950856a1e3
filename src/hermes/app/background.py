"""Questions that are answered beside a conversation: each in a session of its own, its answer told where it was asked."""

import asyncio
import logging
import time
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from msgspec import Struct

from hermes.agent.session import Session
from hermes.protocol.errors import HermesError
from hermes.protocol.events import ItemDone, Notice, TurnEnded
from hermes.protocol.items import Reply, Text
from hermes.protocol.ops import Configure, Say

if TYPE_CHECKING:
    from hermes.app import App

log = logging.getLogger(__name__)
SOURCE = "background"


class Work(Struct, frozen=True):
    """A question at work: its session, what was asked, the session that asked, and when."""

    session: str
    prompt: str
    asked_by: str
    started: float


class Background:
    """The questions of one process. Closing it interrupts what is at work; every session stays and can be resumed."""

    def __init__(self, app: "App") -> None:
        self._app = app
        self._tasks: dict[Work, asyncio.Task[None]] = {}

    @property
    def work(self) -> tuple[Work, ...]:
        """What is at work, the oldest first."""
        return tuple(self._tasks)

    async def start(self, asking: Session, prompt: str, *, yolo: bool = False) -> Work:
        """Ask in a new session with the same model and folder; nobody can be asked there."""
        from hermes.app import Wish

        folder = asking.world.workspace
        wish = Wish(
            cwd=folder if Path(folder).is_dir() else "",
            source=SOURCE,
            can_ask=False,
            yolo=yolo,
        )
        session = await self._app.open(wish, like=asking)
        if asking.effort != session.effort:
            await session.send(Configure(effort=asking.effort))
        work = Work(session.id, prompt, asking.id, time.time())
        task = self._tasks[work] = asyncio.create_task(self._answer(work, session, asking))
        task.add_done_callback(lambda _: self._tasks.pop(work, None))
        return work

    async def stop(self, asked_by: str) -> int:
        """End what a session has asked; returns how many questions there were."""
        mine = [task for work, task in self._tasks.items() if work.asked_by == asked_by]
        await _cancel(mine)
        return len(mine)

    async def close(self) -> None:
        await _cancel(list(self._tasks.values()))

    async def _answer(self, work: Work, session: Session, asking: Session) -> None:
        try:
            try:
                told = await _ask(session, work.prompt)
            finally:
                await session.close("done")
            await asking.tell(told)
        except HermesError as error:
            log.warning("the answer of background session %s reached nobody: %s", session.id, error)


async def _ask(session: Session, prompt: str) -> Notice:
    """Say it, and tell how its turn ended."""
    answer = ""
    async with aclosing(session.events()) as events:
        await session.send(Say(parts=(Text(prompt),)))
        async for event in events:
            match event.body:
                case ItemDone(item=Reply(status="done", text=text)):
                    answer = text
                case TurnEnded(reason="done"):
                    return _notice(session.id, answer or "It is done, without a word.")
                case TurnEnded() as ended:
                    why = f"{ended.error} ({ended.hint})" if ended.hint else ended.error or ended.reason
                    return _notice(session.id, f"It ended: {why}", "warning")
                case _:
                    pass
    return _notice(session.id, "It was closed elsewhere.", "warning")


def _notice(session: str, text: str, level: Literal["info", "warning"] = "info") -> Notice:
    head = f"The background session `{session}` answers (`/resume {session}` goes on with it):"
    return Notice(f"{head}\n\n{text}", level=level, code=SOURCE)


async def _cancel(tasks: list[asyncio.Task[None]]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
