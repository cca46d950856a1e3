"""A past task done again by the same loop, with tools that only remember: nothing in the world can be reached from here."""

from collections.abc import Callable, Sequence
from contextlib import aclosing
from typing import Any, NoReturn, cast

import msgspec

from hermes.agent.budget import Meter
from hermes.agent.desk import AsItIs, Equipment, Masking, Scope, World
from hermes.agent.history import History
from hermes.agent.toolbox import Toolbox
from hermes.agent.turn import turn
from hermes.learning.skills.adoption import Outcome
from hermes.learning.skills.evidence import OWN
from hermes.learning.skills.recording import Playback
from hermes.protocol.actions import Action
from hermes.protocol.errors import Denied, LimitReached, ModelError, ToolError
from hermes.protocol.events import Answered, Body, Event, ItemDelta, ItemDone, Request, TurnStarted, Usage
from hermes.protocol.ids import new_id
from hermes.protocol.items import Reply, UserMessage
from hermes.protocol.models import Model, ToolSpec
from hermes.protocol.ops import Budget
from hermes.protocol.store import JournalRow
from hermes.protocol.terminals import Files, Terminal
from hermes.protocol.tools import Result, Tool, ToolContext, said

NOTHING = "Nothing can be done outside: this is a rehearsal."
UNKNOWN = "[not in this rehearsal]"


class Rehearsal:
    """Implements Desk. `past` is what happened before the turn, `specs` and `system` are what the model was told then."""

    def __init__(
        self, model: Model, system: str, specs: Sequence[ToolSpec], past: Sequence[Event], playback: Playback
    ) -> None:
        recording = playback.recording
        self.session = self.surface = "rehearsal"
        self.effort = ""
        self.model = model
        self.system = system
        self.playback = playback
        self.history = History()
        for event in past:
            self.history.apply(event)
        self.meter = Meter(Budget(steps=2 * recording.steps + 2))
        self.world: World = Nowhere(recording.cwd)
        self.mask: Callable[[str], str] = lambda text: text
        self.masking: Callable[[], Masking] = AsItIs
        self.tools = Toolbox([self._tool(spec) for spec in specs])
        self.used: list[Usage] = []
        self.reply = ""

    async def run(self, messages: Sequence[UserMessage]) -> Outcome:
        """Do the task; `right` tells what the calls show, and is None if they show nothing."""
        recording = self.playback.recording
        self._note(TurnStarted(new_id()), recording.turn)
        for message in messages:
            placed = msgspec.structs.replace(
                message, id=new_id(), turn=recording.turn, step=self.history.step, index=self.history.next_index()
            )
            self._note(ItemDone(placed), recording.turn)
        right: bool | None = False
        try:
            async with aclosing(turn(self)) as bodies:
                async for body in bodies:
                    self._note(body, recording.turn)
                    if self.playback.diverged:
                        break
            right = self.playback.is_right if self.playback.shows else None
        except LimitReached:
            right = False
        except ModelError as error:
            self.playback.diverged = f"the model gave no answer: {error}"
        tokens = sum(usage.input + usage.output for usage in self.used)
        return Outcome(right, len(self.used), tokens, self.playback.diverged)

    def _note(self, body: Body, number: int) -> None:
        if isinstance(body, ItemDelta):
            return
        match body:
            case Usage():
                self.used.append(body)
            case ItemDone(item=Reply(text=text)) if text:
                self.reply = text
            case _:
                pass
        self.history.apply(Event(session=self.session, at=0.0, seq=self.history.seq + 1, turn=number, body=body))

    def _tool(self, spec: ToolSpec) -> Tool:
        async def answer(ctx: ToolContext, args: dict[str, Any]) -> Result:
            if spec.name in OWN:
                return said(UNKNOWN)
            call = self.playback.answer(spec.name, msgspec.json.encode(args).decode())
            if call is None:
                raise ToolError(UNKNOWN)
            return Result(parts=call.result, files=call.files, trust=call.trust, failed=call.status == "failed")

        return Tool(spec=spec, args=dict[str, Any], run=answer)

    # The rest of a desk, of which a rehearsal needs nothing

    def joined(self) -> list[UserMessage]:
        return []

    async def make_room(self, *, refused: bool = False) -> bool:
        return False

    async def begin(self, row: JournalRow) -> None:
        return None

    def end(self, ref: str) -> None:
        return None

    async def ask(self, request: Request, item: str, within: float) -> Answered | None:
        return None

    def post(self, text: str) -> None:
        return None

    async def keep(self, data: bytes, media_type: str) -> str:
        raise Denied(NOTHING)

    async def blob(self, ref: str) -> bytes:
        raise ModelError("the pictures of this conversation are not part of a rehearsal")

    def now(self) -> float:
        return 0.0


class Nowhere:
    """Implements World where there is none: every reach for it is refused."""

    def __init__(self, cwd: str) -> None:
        self.workspace = self.cwd = cwd

    def equip(self, scope: Scope) -> Equipment:
        return Equipment(cast(Files, _Nothing()), cast(Terminal, _Nothing()), _refuse)

    async def move(self, folder: str) -> None:
        raise Denied(NOTHING)

    async def recover(self) -> None:
        return None

    async def stop_background(self) -> int:
        return 0

    async def close(self) -> None:
        return None


class _Nothing:
    def __getattr__(self, name: str) -> NoReturn:
        raise Denied(NOTHING)


async def _refuse(action: Action) -> NoReturn:
    raise Denied(NOTHING)
