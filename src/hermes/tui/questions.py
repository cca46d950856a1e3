"""Which dialog is on the screen: the screen's own question first, else the oldest open one of the session in front."""

import asyncio
from typing import Literal

from textual.app import App

from hermes.protocol.events import Asked, Question
from hermes.protocol.ops import Answer
from hermes.tui.conversation import Conversation
from hermes.tui.dialog import Dialog

Confirmed = Literal["yes", "always", "no"]
CHOICES: dict[str, Confirmed] = {"yes": "yes", "yes, and never ask again": "always", "no": "no"}
CONFIRM = "confirm"


class Questions:
    """Puts dialogs before the status line, one at a time, and takes them away when they are over."""

    def __init__(self, app: App[int]) -> None:
        self._app = app
        self._dialog: Dialog | None = None
        self._confirm: tuple[Asked, asyncio.Future[Confirmed]] | None = None

    @property
    def open(self) -> bool:
        return self._dialog is not None

    async def confirm(self, question: str, front: Conversation) -> Confirmed:
        """Ask the person something of the screen's own."""
        asked = Asked(CONFIRM, Question(question, tuple(CHOICES)))
        self._confirm = asked, asyncio.get_running_loop().create_future()
        self.show(front)
        try:
            return await self._confirm[1]
        finally:
            self._confirm = None
            self.show(front)

    def cancel(self) -> bool:
        """No to the screen's own question; False if there is none."""
        if self._confirm is None or self._confirm[1].done():
            return False
        self._confirm[1].set_result("no")
        return True

    def take(self, asked: Asked, answer: Answer) -> bool:
        """Whether an answer was for the screen's own question."""
        if self._confirm is None or asked is not self._confirm[0]:
            return False
        if not self._confirm[1].done():
            self._confirm[1].set_result(CHOICES.get(answer.choice, "no"))
        return True

    def show(self, front: Conversation) -> None:
        """Bring the dialog in line with what is asked."""
        wanted = self._confirm[0] if self._confirm else next(iter(front.asked.values()), None)
        if self._dialog is not None and self._dialog.asked is not wanted:
            self._dialog.remove()
            self._dialog = None
        prompt = self._app.query_one("#prompt")
        if wanted is None:
            if not prompt.display:
                prompt.display = True
                prompt.focus()
        elif self._dialog is None:
            prompt.display = False
            self._dialog = Dialog(wanted, closed=wanted.request_id == CONFIRM)
            self._app.mount(self._dialog, before="#status")
