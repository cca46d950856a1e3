"""A session's log, folded into what the next step needs. Replay, resume and the model's view share this one path."""

import bisect

from hermes.agent.goal import Goal, goal_after
from hermes.agent.view import length, shown
from hermes.protocol.events import (
    Answered,
    Asked,
    Changed,
    Event,
    ItemDone,
    ItemStarted,
    Notice,
    Prefix,
    SessionClosed,
    SessionOpened,
    TurnEnded,
    TurnStarted,
    Usage,
)
from hermes.protocol.items import Image, Item, Plan, PlanEntry, Reply, Summary, Thought, ToolCall, UserMessage, text_of
from hermes.protocol.ops import Budget

BYTES_PER_TOKEN = 4
PREFIX_GUESS = 16_000
"""About how many bytes of a request are not in the view: the system text and the tools."""


class History:
    """What the events so far amount to. `apply` takes them in order of seq; nothing here is ever taken back."""

    def __init__(self) -> None:
        self.seq = 0
        self.turn = 0
        self.in_turn = False
        self.step = 0
        self.answered = 0
        self.title = ""
        self.closed = False
        self.tools: tuple[str, ...] | None = None
        self.budget: Budget | None = None
        self.effort: str | None = None
        self.personality = ""
        self.goal: Goal | None = None
        self.prefix: Prefix | None = None
        self.plan: tuple[PlanEntry, ...] = ()
        self.plan_call = ""
        self._planned_by = ""
        self._said: list[str] = []
        self.open: dict[str, Item] = {}
        self.asked: dict[str, Asked] = {}
        self.context_used = 0
        self._items: list[Item] = []
        self._named: dict[str, Item] = {}
        self._indexes: dict[int, int] = {}
        self._hidden: list[tuple[int, int]] = []
        self._unreported = 0
        self._view: tuple[Item, ...] | None = None
        self._untrusted: set[str] = set()
        self._local: set[str] = set()
        self._images: set[str] = set()

    def apply(self, event: Event) -> None:
        self.seq = event.seq or self.seq
        match event.body:
            case SessionOpened(prefix=prefix):
                self.prefix = prefix
            case TurnStarted():
                self.turn, self.in_turn, self.closed = event.turn, True, False
                self._said.clear()
            case TurnEnded():
                self.in_turn = False
            case ItemStarted(item=item):
                self.open[item.id] = item
                self._place(item)
            case ItemDone(item=item):
                self.open.pop(item.id, None)
                self._place(item)
                self._add(item)
            case Asked() as asked:
                self.asked[asked.request_id] = asked
            case Answered(request_id=request_id):
                self.asked.pop(request_id, None)
            case Usage(purpose="") as usage:
                self.step = self.answered = max(self.step, usage.step)
                self.context_used, self._unreported = usage.input + usage.output, 0
            case Changed() as changed:
                self._change(changed)
            case SessionClosed():
                self.closed = True
            case Notice() as notice:
                self.goal = goal_after(self.goal, notice)
            case _:
                pass

    def next_index(self) -> int:
        """Where an item stands that follows everything in the current step."""
        return self._indexes.get(self.step, -1) + 1

    def view(self) -> tuple[Item, ...]:
        """The items that the model is shown, in their order, with summaries in the place of what they cover."""
        if self._view is None:
            self._view = shown(item for item in self._items if not self._is_hidden(item))
            self._untrusted.clear()
            self._local.clear()
            self._images.clear()
            for item in self._view:
                self._look_at(item)
        return self._view

    def item(self, name: str) -> Item:
        """An item as it is in the log, whatever the view shows of it."""
        return self._named[name]

    def masked(self) -> frozenset[str]:
        """Items whose long texts are cut in the view."""
        masks = (item for item in self._items if isinstance(item, Summary) and item.kind == "mask")
        return frozenset(name for mask in masks if not self._is_hidden(mask) for name in mask.covers)

    def untrusted(self) -> tuple[str, ...]:
        """Sources of untrusted content that the model can see."""
        self.view()
        return tuple(sorted(self._untrusted))

    def local(self) -> tuple[str, ...]:
        """Sources of content from the workspace's files and commands that the model can see."""
        self.view()
        return tuple(sorted(self._local))

    def said(self) -> str:
        """What the person has said in this turn."""
        return "\n".join(self._said)

    def images(self) -> frozenset[str]:
        """Blobs of the pictures that the model can see."""
        self.view()
        return frozenset(self._images)

    def context_estimate(self) -> int:
        """Tokens that the next request will hold: what the provider last reported and a guess for what came since."""
        return self.context_used + self._unreported // BYTES_PER_TOKEN

    def _place(self, item: Item) -> None:
        self.step = max(self.step, item.step)
        self._indexes[item.step] = max(self._indexes.get(item.step, -1), item.index)

    def _add(self, item: Item) -> None:
        match item:
            case Plan(entries=entries):
                self.plan, self._planned_by = entries, item.source
                return
            case Thought(status="interrupted" | "discarded") | Reply(status="discarded") | Reply(text=""):
                return
            case ToolCall(status="discarded"):
                return
            case UserMessage(origin="person" | "redirect", trust="trusted", parts=parts) if item.turn == self.turn:
                self._said.append(text_of(parts))
            case ToolCall(source=source) if source == self._planned_by:
                self.plan_call = item.id
            case _:
                pass
        before = self._size() if isinstance(item, Summary) else 0
        appended = not self._items or _position(item) >= _position(self._items[-1])
        bisect.insort(self._items, item, key=_position)
        self._named[item.id] = item
        if isinstance(item, Summary):
            self._view = None
            self._shrink(before)
            return
        if self._view is not None and appended and not self._is_hidden(item):
            self._view = (*self._view, item)
            self._look_at(item)
        else:
            self._view = None
        self._unreported += length(item)

    def _size(self) -> int:
        return sum(map(length, self.view()))

    def _shrink(self, before: int) -> None:
        """The view is shorter now; until a provider reports again, its tokens are taken to have shrunk alike."""
        tokens = self.context_used + self._unreported // BYTES_PER_TOKEN
        removed = (before - self._size()) * tokens // (before + PREFIX_GUESS)
        self.context_used, self._unreported = max(1, tokens - removed), 0

    def _change(self, changed: Changed) -> None:
        self._view = None
        match changed.cause:
            case "rewound" if changed.turns:
                self._hidden.append(changed.turns)
                self.context_used, self._unreported = 0, self._size()
            case "prefix" if changed.prefix:
                self.prefix = changed.prefix
            case "title":
                self.title = changed.title
            case "config" if changed.config:
                self.tools = changed.config.tools or self.tools
                self.budget = changed.config.budget or self.budget
                self.effort = changed.config.effort if changed.config.effort is not None else self.effort
                self.personality = (
                    changed.config.personality if changed.config.personality is not None else self.personality
                )
            case _:
                pass

    def _look_at(self, item: Item) -> None:
        """Note what is special about an item that the model can see."""
        self._note_source(item)
        parts = item.parts if isinstance(item, UserMessage) else item.result if isinstance(item, ToolCall) else ()
        self._images.update(part.blob for part in parts if isinstance(part, Image))

    def _note_source(self, item: Item) -> None:
        """Note where an item came from; a summary comes from wherever all came from that it stands for."""
        if item.trust == "untrusted":
            self._untrusted.add(item.source)
        elif item.trust == "workspace":
            self._local.add(item.source)
        if isinstance(item, Summary):
            for name in item.covers:
                self._note_source(self._named[name])

    def _is_hidden(self, item: Item) -> bool:
        return any(first <= item.turn <= last for first, last in self._hidden)


def _position(item: Item) -> tuple[int, int]:
    return item.step, item.index
