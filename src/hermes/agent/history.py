"""A session's log, folded into what the next step needs. Replay, resume and the model's view share this one path."""

import bisect

from hermes.protocol.events import (
    Answered,
    Asked,
    Changed,
    Event,
    ItemDone,
    ItemStarted,
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
        self.prefix: Prefix | None = None
        self.plan: tuple[PlanEntry, ...] = ()
        self.open: dict[str, Item] = {}
        self.asked: dict[str, Asked] = {}
        self.context_used = 0
        self._items: list[Item] = []
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
            case _:
                pass

    def next_index(self) -> int:
        """Where an item stands that follows everything in the current step."""
        return self._indexes.get(self.step, -1) + 1

    def view(self) -> tuple[Item, ...]:
        """The items that the model is shown, in their order, with summaries in the place of what they cover."""
        if self._view is None:
            self._view = self._make_view()
            self._untrusted.clear()
            self._local.clear()
            self._images.clear()
            for item in self._view:
                self._look_at(item)
        return self._view

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
        return "\n".join(
            text_of(item.parts)
            for item in self.view()
            if isinstance(item, UserMessage)
            and item.turn == self.turn
            and item.trust == "trusted"
            and item.origin in ("person", "redirect")
        )

    def images(self) -> frozenset[str]:
        """Blobs of the pictures that the model can see."""
        self.view()
        return frozenset(self._images)

    def context_estimate(self) -> int:
        """Tokens that the next request will hold: what the provider last reported and a guess for what came since."""
        return self.context_used + self._unreported // BYTES_PER_TOKEN

    def _make_view(self) -> tuple[Item, ...]:
        covered: dict[str, Summary] = {}
        visible = [item for item in self._items if not self._is_hidden(item)]
        for item in visible:
            if isinstance(item, Summary):
                covered |= dict.fromkeys(item.covers, item)
        shown: list[Item] = []
        placed: set[str] = set()
        for item in visible:
            summary = covered.get(item.id)
            if summary is None:
                if not isinstance(item, Summary):
                    shown.append(item)
            elif summary.id not in placed and summary.id not in covered:
                placed.add(summary.id)
                shown.append(summary)
        return tuple(shown)

    def _place(self, item: Item) -> None:
        self.step = max(self.step, item.step)
        self._indexes[item.step] = max(self._indexes.get(item.step, -1), item.index)

    def _add(self, item: Item) -> None:
        match item:
            case Plan(entries=entries):
                self.plan = entries
                return
            case Thought(status="interrupted" | "discarded") | Reply(status="discarded") | Reply(text=""):
                return
            case ToolCall(status="discarded"):
                return
            case _:
                pass
        appended = not self._items or _position(item) >= _position(self._items[-1])
        bisect.insort(self._items, item, key=_position)
        if self._view is not None and appended and not isinstance(item, Summary) and not self._is_hidden(item):
            self._view = (*self._view, item)
            self._look_at(item)
        else:
            self._view = None
        self._unreported += _length(item)

    def _change(self, changed: Changed) -> None:
        self._view = None
        match changed.cause:
            case "rewound" if changed.turns:
                self._hidden.append(changed.turns)
                self.context_used, self._unreported = 0, sum(map(_length, self.view()))
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
        if item.trust == "untrusted":
            self._untrusted.add(item.source)
        elif item.trust == "workspace":
            self._local.add(item.source)
        parts = item.parts if isinstance(item, UserMessage) else item.result if isinstance(item, ToolCall) else ()
        self._images.update(part.blob for part in parts if isinstance(part, Image))

    def _is_hidden(self, item: Item) -> bool:
        return any(first <= item.turn <= last for first, last in self._hidden)


def _length(item: Item) -> int:
    """Roughly how many bytes an item has in a request."""
    match item:
        case UserMessage(parts=parts):
            return len(text_of(parts))
        case ToolCall(args=args, result=result):
            return len(args) + len(text_of(result))
        case Reply(text=text) | Thought(text=text) | Summary(text=text):
            return len(text)
        case Plan():
            return 0


def _position(item: Item) -> tuple[int, int]:
    return item.step, item.index
