"""One open session as the screen sees it: its events become blocks of a page, questions and figures."""

import time
from collections.abc import Callable, Sequence
from contextlib import aclosing

from hermes.agent.session import Session
from hermes.commands.numbers import short
from hermes.commands.requests import answer_line, asked_lines, effect
from hermes.commands.transcript import Turn
from hermes.commands.width import cut
from hermes.commands.words import SIGNS, ending, is_mild
from hermes.protocol.events import (
    Answered,
    Approval,
    Asked,
    Changed,
    Event,
    ItemDelta,
    ItemDone,
    ItemStarted,
    Notice,
    Request,
    TurnEnded,
    TurnStarted,
    Usage,
)
from hermes.protocol.items import Item, Plan, Reply, Summary, Thought, ToolCall, UserMessage
from hermes.tui.banner import Banner
from hermes.tui.blocks import Answer, Growing, Listed, Panel, Said, Thinking, Told, Took
from hermes.tui.calls import Called
from hermes.tui.page import Page

ASKED_SHOWN = 60
"""Places for what a question was about, once it is answered; the call below it has all of it."""
NOTICES = {"info": "$hermes-dim", "warning": "$text-warning", "error": "$text-error"}


class Conversation:
    """A session with its page. `changed` is called when something is different that is not on the page."""

    def __init__(
        self, session: Session, banner: Banner, changed: Callable[["Conversation"], None], *, streaming: bool = True
    ) -> None:
        self.session = session
        self.page = Page()
        self.banner = banner
        self.asked: dict[str, Asked] = {}
        self.title = session.history.title
        self.queued = 0
        self.used: Usage | None = None
        self.cost: float | None = None
        self.opened = time.monotonic()
        self.turn_began: float | None = None
        self.rings = False
        self._changed = changed
        self._streaming = streaming
        self._growing: dict[str, Growing] = {}
        self._calls: dict[str, Called] = {}
        self._last_tool = ""
        self._at = self._began_at = 0.0
        self._cost_before: float | None = None

    def begin(self, turns: Sequence[Turn] = ()) -> None:
        """Start the page with the banner, above it what was said before."""
        for turn in turns:
            for item in turn.items:
                self._done(item)
        self.page.start_here()
        self.page.add(self.banner)

    async def follow(self, drawn: Callable[["Conversation"], None]) -> None:
        """Read the session's events until it is closed; `drawn` is called when the page has changed."""
        async with aclosing(self.session.events(self.session.history.seq)) as events:
            async for event in events:
                self.see(event)
                drawn(self)

    @property
    def activity(self) -> str:
        """What is at work now: a tool's name, or nothing while the model thinks."""
        return next((call.call.name for call in self._calls.values()), "")

    def tick(self) -> bool:
        """Count the seconds of calls that run; False if there are none."""
        for call in self._calls.values():
            self.page.touch(call)
        return bool(self._calls)

    def see(self, event: Event) -> None:
        self._at = event.at
        match event.body:
            case TurnStarted():
                self.turn_began = time.monotonic()
                self._began_at, self._cost_before = event.at, self.cost
                self._changed(self)
            case ItemStarted(item=item):
                self._start(item)
            case ItemDelta() as delta:
                self._grow(delta)
            case ItemDone(item=item):
                self._done(item)
            case Asked() as asked:
                self.asked[asked.request_id] = asked
                self._changed(self)
            case Answered() as answered:
                self._answered(answered)
            case Usage() as used:
                self.used = self.used if used.purpose else used
                self.cost = self.cost if used.cost is None else (self.cost or 0.0) + used.cost
                self._changed(self)
            case Notice(code="background", text=text):
                self.reply(text)
            case Notice(text=text, level=level):
                part = "activity" if level == "info" else ""
                self.page.add(Told(f"{SIGNS[level]} {text}", NOTICES[level], part))
            case Changed() as changed:
                self._change(changed)
            case TurnEnded() as ended:
                self._end(ended)
            case _:
                pass

    def tell(self, text: str, style: str = "$text-warning") -> None:
        """A line of the screen's own."""
        self.page.add(Told(text, style))

    def reply(self, markdown: str, title: str = "") -> None:
        """What a command said."""
        self.page.add(Panel(markdown, title))

    # Items

    def _start(self, item: Item) -> None:
        match item:
            case Reply():
                block = self._growing[item.id] = self.page.add(Answer())
                block.at = self._at
            case Thought():
                self._growing[item.id] = self.page.add(Thinking())
            case ToolCall():
                self._calls[item.id] = self.page.add(Called(item, repeats=item.name == self._last_tool))
                self._last_tool = item.name
                self._changed(self)
            case _:
                pass

    def _grow(self, delta: ItemDelta) -> None:
        """More of a text. Where pieces are missing dots stand, until the whole of it comes."""
        if (block := self._growing.get(delta.item)) and delta.offset >= block.length:
            if self._streaming or isinstance(block, Thinking):
                block.grow(delta.text, delta.offset)
                self.page.touch(block)
        elif call := self._calls.get(delta.item):
            match delta.channel:
                case "args":
                    call.args += delta.text
                case "output" | "progress":
                    call.grow(delta.text)
                case _:
                    return
            self.page.touch(call)

    def _done(self, item: Item) -> None:
        match item:
            case UserMessage():
                self._last_tool = ""
                self.page.add(Said(item)).at = self._at
            case Reply() | Thought():
                block = self._growing.pop(item.id, None)
                if block is None:
                    block = self.page.add(Answer() if isinstance(item, Reply) else Thinking())
                    block.at = self._at
                block.finish("" if item.status == "discarded" else item.text)
                self.page.touch(block)
            case ToolCall():
                self._call_done(item)
            case Plan():
                self.page.add(Listed(item))
            case Summary():
                pass

    def _call_done(self, item: ToolCall) -> None:
        call = self._calls.pop(item.id, None)
        if call is None:
            call = self.page.add(Called(item, repeats=item.name == self._last_tool))
            self._last_tool = item.name
        call.finish(item)
        self.page.touch(call)
        self._changed(self)

    # The rest

    def _answered(self, answered: Answered) -> None:
        if asked := self.asked.pop(answered.request_id, None):
            self.tell(f"? {_in_short(asked.request)} → {answer_line(answered)}", "$hermes-dim")
        self._changed(self)

    def _change(self, changed: Changed) -> None:
        match changed:
            case Changed(cause="rewound", turns=(first, last)):
                turns = f"turns {first} to {last} are" if first < last else f"turn {last} is"
                self.tell(f"· {turns} taken back", "$hermes-dim")
            case Changed(cause="title", title=title):
                self.title = title
            case Changed(cause="queue", queue=queue):
                self.queued = len(queue)
            case _:
                pass
        self._changed(self)

    def _end(self, ended: TurnEnded) -> None:
        self.turn_began = None
        self.rings = True
        self.queued = max(0, self.queued - 1)
        if ended.reason != "done":
            mild = is_mild(ended)
            self.tell(f"{'■' if mild else '✗'} {ending(ended)}", "$text-warning" if mild else "$text-error")
        self.page.add(Took(self._took()))
        self._changed(self)

    def _took(self) -> str:
        """What the turn took that has just ended."""
        used = self.used
        tokens = f"{short(used.context_used)}/{short(used.context_size)} tokens" if used and used.context_size else ""
        cost = "" if self.cost is None else f"${self.cost - (self._cost_before or 0.0):.4f}"
        seconds = f"{max(0.0, self._at - self._began_at):.1f} s"
        return " · ".join(filter(None, (self.session.model.name, tokens, cost, seconds)))


def _in_short(request: Request) -> str:
    """What was asked, once it is answered."""
    match request:
        case Approval(action=action):
            phrase, exactly = effect(action)
            return f"{phrase}: {cut(' '.join(exactly.split()), ASKED_SHOWN)}"
        case _:
            return cut(asked_lines(request)[0], ASKED_SHOWN)
