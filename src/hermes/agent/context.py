"""What one tool call is given."""

from collections.abc import Callable

from hermes.agent.desk import Desk, Masking, Scope
from hermes.protocol.actions import Action, Origin
from hermes.protocol.errors import ToolError
from hermes.protocol.events import Answered, Body, Channel, ItemDelta, ItemDone, Notice, Request, Usage
from hermes.protocol.ids import new_id
from hermes.protocol.items import Plan, PlanEntry, ToolCall
from hermes.protocol.tools import Result, parse_args


class CallContext:
    """Implements ToolContext for one call of one session."""

    def __init__(self, desk: Desk, item: ToolCall, show: Callable[[Body], None]) -> None:
        self._desk, self._item, self._show = desk, item, show
        self._offsets: dict[Channel, int] = {}
        self._output: Masking | None = None
        origin = Origin(
            surface=desk.surface,
            session=desk.session,
            turn=item.turn,
            tool=item.name,
            workspace=desk.world.workspace,
            untrusted=desk.history.untrusted(),
            local=desk.history.local(),
            said=desk.history.said(),
        )
        equipment = desk.world.equip(Scope(origin, self.ask, self._tell, self._used))
        self.session = desk.session
        self.files = equipment.files
        self.terminal = equipment.terminal
        self._permit = equipment.permit

    @property
    def plan(self) -> tuple[PlanEntry, ...]:
        return self._desk.history.plan

    async def permit(self, action: Action) -> None:
        await self._permit(action)

    async def ask(self, request: Request, timeout: float) -> Answered | None:
        return await self._desk.ask(request, self._item.id, timeout)

    def _tell(self, text: str) -> None:
        self._show(Notice(text, level="warning"))

    def _used(self, usage: Usage) -> None:
        self._desk.meter.charge(usage)
        self._show(usage)

    def emit(self, channel: Channel, text: str) -> None:
        if channel != "output":
            return self._grow(channel, self._desk.mask(text))
        if self._output is None:
            self._output = self._desk.masking()
        self._grow(channel, self._output.feed(text))

    def finish(self) -> None:
        """Show what was held back of the output: there is no more to come."""
        if self._output is not None:
            self._grow("output", self._output.close())

    def _grow(self, channel: Channel, text: str) -> None:
        if not text:
            return
        offset = self._offsets.get(channel, 0)
        self._offsets[channel] = offset + len(text)
        self._show(ItemDelta(self._item.id, channel, offset, text))

    def set_plan(self, entries: tuple[PlanEntry, ...]) -> None:
        item = self._item
        self._show(
            ItemDone(
                Plan(
                    id=new_id(),
                    turn=item.turn,
                    step=item.step,
                    index=self._desk.history.next_index(),
                    source=f"tool:{item.name}",
                    entries=entries,
                )
            )
        )

    def post(self, text: str) -> None:
        self._desk.post(text)

    async def call(self, name: str, args: str) -> Result:
        tool = self._desk.tools.get(name)
        if tool is None:
            raise ToolError(f"there is no tool {name!r}")
        return await tool.run(self, parse_args(tool, args))

    async def keep(self, data: bytes, media_type: str) -> str:
        return await self._desk.keep(data, media_type)

    async def blob(self, ref: str) -> bytes:
        return await self._desk.blob(ref)

    def now(self) -> float:
        return self._desk.now()
