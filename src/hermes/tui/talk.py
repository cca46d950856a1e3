"""What becomes of a typed text: a slash command, or a message that starts, joins or interrupts a turn."""

import logging
from pathlib import Path
from typing import Literal, Protocol

from msgspec.structs import replace

from hermes.agent.session import Session
from hermes.app import App
from hermes.app.pictures import picture
from hermes.commands.builtin import ask_no_more, registry_of
from hermes.commands.references import expand_in
from hermes.commands.registry import Completion, Context, Screen, Surface, Typed
from hermes.protocol.errors import HermesError, UserError
from hermes.protocol.ops import AnyOp, Interrupt, Redirect, Say
from hermes.tui import skins
from hermes.tui.conversation import Conversation
from hermes.tui.questions import Confirmed

log = logging.getLogger(__name__)
BusyMode = Literal["interrupt", "queue", "steer"]
MODES: dict[str, BusyMode] = {"interrupt": "interrupt", "queue": "queue", "steer": "steer"}


class Front(Protocol):
    """What the screen does for whoever talks on it."""

    async def confirm(self, question: str) -> Confirmed: ...

    async def act(self, screen: Screen) -> str:
        """Do it; returns what to tell about it."""
        ...

    def drawn(self, conversation: Conversation) -> None: ...


class Talk:
    """Talks to one conversation. A surface of the slash commands."""

    surface: Surface = "terminal"

    def __init__(self, app: App, front: Front, conversation: Conversation, mode: BusyMode) -> None:
        self.app = app
        self.registry = registry_of(app)
        self.registry.commands = tuple(
            replace(command, complete=_skins) if command.name == "skin" else command
            for command in self.registry.commands
        )
        self.mode: BusyMode = mode
        self._front = front
        self.conversation = conversation

    @property
    def session(self) -> Session:
        return self.conversation.session

    def behave(self, mode: str) -> str:
        """Change what typing does while a turn runs; without a mode, say it."""
        self.mode = MODES.get(mode, self.mode)
        return f"typing while a turn runs: {self.mode}"

    async def take(self, text: str, images: tuple[Path, ...] = ()) -> None:
        """Do what was typed; what is wrong with it is told on the page."""
        one = self.conversation
        try:
            typed = self.registry.read(text, self.surface)
            if typed is None:
                await self._say(one, text, images)
            elif not typed.question or await self._confirmed(typed):
                outcome = await typed.run(self)
                if outcome.reply:
                    one.reply(outcome.reply)
                await self._send(one, *outcome.ops)
                if outcome.screen and (said := await self._front.act(outcome.screen)):
                    one.tell(f"· {said}", "$hermes-dim")
        except UserError as error:
            one.tell(f"{error} ({error.hint})" if error.hint else str(error))
        except HermesError as error:
            one.tell(str(error))
        except Exception as error:  # one command that fails must not take the sessions of the screen with it
            log.exception("could not do %.40r", text)
            one.tell(
                f"internal error: {type(error).__name__}: {error} (hermes logs errors shows where; please report it)"
            )
        self._front.drawn(one)

    async def interrupt(self) -> None:
        await self._send(self.conversation, Interrupt())

    async def _confirmed(self, typed: Typed) -> bool:
        answer = await self._front.confirm(typed.question)
        if answer == "always":
            await ask_no_more(self.app, typed.command)
        return answer != "no"

    async def _say(self, one: Conversation, text: str, images: tuple[Path, ...]) -> None:
        expanded = await expand_in(self.app, one.session, text)
        for warning in expanded.warnings:
            one.tell(warning)
        pictures = [await picture(one.session, path) for path in images]
        parts = (*expanded.parts, *pictures)
        if not one.session.busy or self.mode == "queue":
            await self._send(one, Say(parts=parts, quoted=expanded.quoted))
        elif self.mode == "steer":
            await self._send(one, Redirect(parts=parts, quoted=expanded.quoted))
            one.tell("· it joins the running turn at its next step", "$hermes-dim")
        else:
            await self._send(one, Interrupt(), Say(parts=parts, quoted=expanded.quoted))

    async def _send(self, one: Conversation, *ops: AnyOp) -> None:
        for op in ops:
            await one.session.send(op)


async def _skins(ctx: Context, argument: str) -> list[Completion]:
    """The skins that there are; only the screen knows them."""
    return [Completion(text=name) for name in skins.names(ctx.app.settings.home / "skins")]
