"""What a conversation on the screen is made of: each block knows its lines at a width. Plain objects, no widgets.

Said      a message of a person, or of something else that speaks to the session
Answer    what the model says
Thinking  what it thinks
Told      one line beside the conversation
Took      what a turn took
Listed    the plan
Panel     Markdown that is not of the model: the reply of a command, what was said before
Called    (calls.py) a tool call, while it runs and after
"""

import time
from abc import ABC, abstractmethod
from typing import Literal

from msgspec import Struct
from textual.content import Content

from hermes.commands.numbers import short
from hermes.commands.transcript import speaker
from hermes.commands.words import MARKS, first_lines, harmless
from hermes.protocol.items import Plan, Text, UserMessage, text_of
from hermes.tui.flow import FlowingText, next_portion
from hermes.tui.markdown import Markdown
from hermes.tui.wrapping import BLANK, cut, styled, wrap

State = Literal["hidden", "folded", "open"]
Part = Literal["", "thoughts", "tools", "subagents", "activity"]
OTHERS_SHOWN = 5
FOLDED_LOOK = 1_000
"""Characters of a thought among which its first line is looked for: more than any screen is wide."""
PARTS: dict[str, Part] = {"subagent": "subagents", "process": "activity"}


class View(Struct, frozen=True):
    """What drawing depends on besides the block: how much of each part is shown, and the signs of the skin."""

    thoughts: State = "folded"
    tools: State = "folded"
    subagents: State = "folded"
    activity: State = "open"
    only_new: bool = False
    """Whether a call of the same tool as the call before it is left out."""
    compact: bool = False
    timestamps: bool = False
    footer: bool = False
    prompt: str = "›"
    sign: str = "●"
    label: str = ""
    signs: tuple[tuple[str, str], ...] = ()

    def state(self, part: Part) -> State:
        return getattr(self, part) if part else "open"


class Block(ABC):
    """Something drawn in lines. `state` is what the person chose for this one, against what the view says."""

    part: Part = ""
    gap = True
    """Whether an empty line keeps it apart from what stands before and behind it."""
    behind = False
    """Whether there is more of it than its lines show: they are asked for again."""

    def __init__(self) -> None:
        self.state: State | None = None
        self.at = 0.0
        """When it was said, if that is known."""

    def stamp(self, view: View) -> str:
        """The time of day, where it should be shown."""
        return time.strftime("%H:%M", time.localtime(self.at)) if view.timestamps and self.at else ""

    def shown(self, view: View) -> State:
        wanted = view.state(self.part)
        return wanted if wanted == "hidden" or self.state is None else self.state

    @property
    def foldable(self) -> bool:
        return False

    def fold(self, view: View) -> None:
        """Open what is folded, fold what is open."""
        self.state = "folded" if self.shown(view) == "open" else "open"

    @abstractmethod
    def lines(self, width: int, view: View) -> list[Content]: ...


class Said(Block):
    """What a person typed, in full; what they quote, and what others say, in a few lines unless it is opened."""

    def __init__(self, item: UserMessage) -> None:
        super().__init__()
        person = item.origin in ("person", "redirect")
        typed = [part for n, part in enumerate(item.parts) if n == 0 or not isinstance(part, Text)] if person else []
        quoted = [part for part in item.parts if part not in typed]
        self._name = "" if person and not item.sender else f"[{harmless(speaker(item))}] "
        self._typed, self._quoted = (harmless(text_of(tuple(some))).expandtabs(4) for some in (typed, quoted))
        self.part = PARTS.get(item.origin, "")

    @property
    def foldable(self) -> bool:
        return bool(self._quoted)

    def shown(self, view: View) -> State:
        return super().shown(view) if self.part or self.state else "folded"

    def lines(self, width: int, view: View) -> list[Content]:
        style = "bold $hermes-prompt" if self._typed else "$hermes-dim"
        stamp = styled(f"{stamp} ", "$hermes-dim") if (stamp := self.stamp(view)) else BLANK
        head, text = stamp + styled(f"{view.prompt} ", style), styled(self._name + self._typed, "bold")
        lines = wrap(text, width, head) if self._typed else []
        if not self._quoted:
            return lines
        quoted = (self._quoted if lines else self._name + self._quoted).split("\n")
        if self.shown(view) == "folded":
            quoted = first_lines(quoted, OTHERS_SHOWN)
        return [*lines, *wrap(styled("\n".join(quoted), "$hermes-dim"), width, "  " if lines else head)]


class Growing(Block):
    """A text of the model, as far as it has come; `length` counts its characters as they came.

    Its lines take it in by portions, so that no drawing takes long, however much of it came since the last one.
    """

    def __init__(self) -> None:
        super().__init__()
        self.length = 0
        self.running = True
        self._pieces: list[str] = []
        self._taken = ""
        self._width = 0

    @property
    def text(self) -> str:
        self._pieces = ["".join(self._pieces)]
        return self._pieces[0]

    def grow(self, text: str, offset: int) -> None:
        """More of it, which begins at `offset`."""
        self._pieces.append(f" … {harmless(text)}" if offset > self.length else harmless(text))
        self.length = offset + len(text)

    def finish(self, text: str) -> None:
        """The whole of it."""
        self.length, self._pieces, self.running = len(text), [harmless(text)], False

    def _portion(self, text: str, width: int) -> tuple[str, list[Content]]:
        """The text as far as its lines go by now, and a line that stands for the rest of it."""
        if width != self._width or not text.startswith(self._taken):
            self._taken, self._width = "", width
        self._taken = text[: next_portion(text, len(self._taken))]
        rest = len(text) - len(self._taken)
        self.behind = rest > 0
        return self._taken, [styled(f"… {short(rest)} characters more", "$hermes-dim")] if rest else []


class Answer(Growing):
    def __init__(self) -> None:
        super().__init__()
        self._markdown = Markdown()

    def lines(self, width: int, view: View) -> list[Content]:
        self._markdown.text, more = self._portion(self.text.strip("\n"), width)
        lines = [*self._markdown.lines(width), *more]
        stamp = styled(self.stamp(view), "$hermes-dim")
        head = Content(" ").join(part for part in (stamp, styled(view.label, "bold $primary")) if part)
        return [head, *lines] if head and lines else lines


class Thinking(Growing):
    part: Part = "thoughts"

    def __init__(self) -> None:
        super().__init__()
        self._flowing = FlowingText("italic $hermes-dim", styled("│ ", "$hermes-dim"))

    @property
    def foldable(self) -> bool:
        return True

    def lines(self, width: int, view: View) -> list[Content]:
        text = self.text.strip()
        if not text:
            return []
        if self.shown(view) == "folded":
            self.behind = False
            first = text[:FOLDED_LOOK].split("\n")[0].replace("**", "")
            more = "…" if self.running or len(text) > len(first) else ""
            return [cut(styled(f"▸ thought: {first}{more}", "italic $hermes-dim"), width)]
        taken, more = self._portion(text, width)
        return [*self._flowing.lines(taken, width), *more]


class Told(Block):
    """One line beside the conversation."""

    gap = False

    def __init__(self, text: str, style: str = "$hermes-dim", part: Part = "") -> None:
        super().__init__()
        self._text, self._style, self.part = harmless(text), style, part

    def lines(self, width: int, view: View) -> list[Content]:
        return wrap(styled(self._text, self._style), width, "", "  ")


class Took(Block):
    """What a turn took, below it, for those who want to see it."""

    gap = False

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = harmless(text)

    def lines(self, width: int, view: View) -> list[Content]:
        return [cut(styled(self._text, "$hermes-dim"), width)] if view.footer else []


class Listed(Block):
    def __init__(self, plan: Plan) -> None:
        super().__init__()
        self._entries = plan.entries

    def lines(self, width: int, view: View) -> list[Content]:
        styles = {"in_progress": "bold", "completed": "$text-success", "cancelled": "strike $hermes-dim"}
        lines: list[Content] = []
        for entry in self._entries:
            text = styled(harmless(entry.content), styles.get(entry.status, ""))
            lines += wrap(text, width, f"  {MARKS[entry.status]} ")
        return lines


class Panel(Block):
    """Markdown beside the conversation, behind a bar."""

    def __init__(self, text: str, title: str = "", style: str = "$hermes-border") -> None:
        super().__init__()
        self._markdown = Markdown(harmless(text))
        self._title, self._style = harmless(title), style

    def lines(self, width: int, view: View) -> list[Content]:
        bar = styled("┃ ", self._style)
        title = wrap(styled(self._title, f"bold {self._style}"), width, bar, bar) if self._title else []
        return [*title, *(bar + line for line in self._markdown.lines(width - 2))]
