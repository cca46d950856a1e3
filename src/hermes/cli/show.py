"""A session's events for people, as plain lines. Live or replayed, with deltas or without, they look the same."""

from collections.abc import Mapping
from typing import TextIO

from msgspec import Struct

from hermes.cli.calls import DIFF, INDENT, OUTPUT_SHOWN, draw_call, draw_plan
from hermes.cli.pen import PROMPT, Pen, Style
from hermes.commands.requests import answer_line, asked_lines
from hermes.commands.words import SIGNS, ending, first_lines, gist, harmless, is_mild
from hermes.protocol.events import (
    Answered,
    Asked,
    Changed,
    Event,
    ItemDelta,
    ItemDone,
    ItemStarted,
    Notice,
    Request,
    SessionOpened,
    TurnEnded,
    TurnStarted,
    Usage,
)
from hermes.protocol.items import (
    Item,
    Plan,
    Reply,
    Summary,
    Thought,
    ToolCall,
    UserMessage,
    text_of,
)

TEXTS = ("prompt", "message", "reply", "thought")
"""Blocks with an empty line before and after."""
NOTICES: dict[str, Style] = {"info": "dim", "warning": "yellow", "error": "red"}


class _Text(Struct):
    """How much of a text has come without a gap, and whether any of it was drawn."""

    length: int = 0
    drawn: bool = False


class _Call(Struct):
    """A call that is not done: what of it has come so far."""

    name: str
    args: str = ""
    output: str = ""


class Show:
    """Draws the events of one session. `thoughts` shows what the model thinks, `usage` what each turn used."""

    def __init__(
        self,
        out: TextIO,
        environ: Mapping[str, str] | None = None,
        *,
        streaming: bool = True,
        thoughts: bool = False,
        usage: bool = False,
    ) -> None:
        self.pen = Pen(out, environ or {})
        self._streaming, self.thoughts, self._usage = streaming, thoughts, usage
        self._last = ""
        self._typed: set[str] = set()
        self._skips_message = False
        self._texts: dict[str, _Text] = {}
        self._item = ""
        self._held = ""
        self._calls: dict[str, _Call] = {}
        self._asked: set[str] = set()
        self._used: list[Usage] = []

    def event(self, event: Event) -> None:
        match event.body:
            case SessionOpened(model=model, cwd=cwd):
                self.line(f"· session {event.session}, {model}, {cwd}", "dim")
            case TurnStarted(op=op):
                self._skips_message, self._used = op in self._typed, []
                self.pen.glance("thinking …")
            case ItemStarted(item=ToolCall(id=name) as call):
                self._calls[name] = _Call(call.name)
            case ItemStarted(item=Reply(id=name) | Thought(id=name)):
                self._texts[name] = _Text()
            case ItemDelta() as delta:
                self._grow(delta)
            case ItemDone(item=item):
                self._done(item)
            case Asked() as asked:
                self._asked.add(asked.request_id)
                self._ask(asked.request)
            case Answered() as answered if answered.request_id in self._asked:
                self.line(f"  → {answer_line(answered)}", "dim")
            case Usage(purpose="") as used:
                self._used.append(used)
                if self._calls:
                    self._glance()
            case Notice(code="background", text=text):
                self.reply(text)
            case Notice(text=text, level=level):
                self.line(f"{SIGNS[level]} {text}", NOTICES[level])
            case Changed(cause="rewound", turns=(first, last)):
                turns = f"turns {first} to {last} are" if first < last else f"turn {last} is"
                self.line(f"· {turns} taken back", "dim")
            case TurnEnded() as ended:
                self._end(ended)
            case _:
                pass

    # For whoever holds the keyboard

    def typed(self, op: str) -> None:
        """The message of this op is on the screen already: it was typed there."""
        self._typed.add(op)

    def before_prompt(self) -> None:
        if self._last != "prompt":
            self._block("prompt")

    def line(self, text: str, style: Style = "") -> None:
        """A line beside the conversation."""
        self._block("line")
        self.pen.line(self.pen.paint(style, harmless(text).replace("\n", " ")))

    def reply(self, markdown: str) -> None:
        """What a command said."""
        self._block("reply")
        fence = language = ""
        for line in harmless(markdown).splitlines():
            mark = line[: len(line) - len(line.lstrip("`"))]
            if fence and line == fence:
                fence = ""
            elif fence:
                self.pen.line(self.pen.paint(DIFF.get(line[:1], "") if language == "diff" else "", line))
            elif len(mark) >= 3:
                fence, language = mark, line[len(mark) :]
            else:
                self.pen.line(line.replace("**", "").replace("`", ""))

    # Texts

    def _grow(self, delta: ItemDelta) -> None:
        call = self._calls.get(delta.item)
        match delta.channel:
            case "text" if self._streaming:
                self._stream(delta.item, delta.offset, delta.text, "reply")
            case "thought" if self._streaming and self.thoughts:
                self._stream(delta.item, delta.offset, delta.text, "thought")
            case "thought":
                self.pen.glance("thinking …")
            case "args" if call:
                call.args += delta.text
            case "output" | "progress" if call:
                call.output = (call.output + delta.text)[-1000:]
                self._glance()
            case _:
                pass

    def _stream(self, item: str, offset: int, text: str, kind: str) -> None:
        """Text as it grows. What comes behind a gap, or after something else was drawn, waits for the whole item."""
        known = self._texts.get(item)
        if known and offset == known.length and (item == self._item or not known.drawn):
            self._write(item, text, kind)

    def _write(self, item: str, text: str, kind: str) -> None:
        """More of a text, without the newlines before and behind it."""
        known = self._texts.setdefault(item, _Text())
        known.length += len(text)
        text = self._held + text if item == self._item else text.lstrip("\n")
        if not (words := text.rstrip("\n")):
            self._held = text
            return
        if item != self._item:
            self._block(kind)
            self._item, known.drawn = item, True
        self._held = text[len(words) :]
        self.pen.text(words, "dim" if kind == "thought" else "")

    def _whole(self, item: Reply | Thought, kind: str) -> None:
        """The end of a text, with what was not streamed of it."""
        length = self._texts.get(item.id, _Text()).length
        if item.status != "discarded" and len(item.text) > length:
            self._write(item.id, item.text[length:], kind)
        self._texts.pop(item.id, None)
        if self._item == item.id:
            self._item = self._held = ""
            self.pen.end()

    # Items

    def _done(self, item: Item) -> None:
        match item:
            case UserMessage(origin="person") if self._skips_message:
                self._skips_message = False
            case UserMessage():
                self._message(item)
            case Reply():
                self._whole(item, "reply")
            case Thought() if self.thoughts:
                self._whole(item, "thought")
            case ToolCall():
                self._calls.pop(item.id, None)
                if item.status != "discarded":
                    self._block("line")
                    draw_call(self.pen, item)
                self._glance()
            case Plan(entries=entries):
                self._block("line")
                draw_plan(self.pen, entries)
            case Thought() | Summary():
                pass

    def _message(self, item: UserMessage) -> None:
        self._block("message")
        lines, style = harmless(text_of(item.parts)).splitlines() or [""], ""
        if item.origin not in ("person", "redirect"):
            lines, style = first_lines([f"[{item.origin}] {lines[0]}", *lines[1:]], OUTPUT_SHOWN), "dim"
        for index, line in enumerate(lines):
            self.pen.line(self.pen.paint(style, (PROMPT if index == 0 else "  ") + line))

    # Questions, endings

    def _ask(self, request: Request) -> None:
        """A question in full: nobody can judge what was cut off."""
        self._block("line")
        head, *rest = asked_lines(request)
        self.pen.line(f"{self.pen.paint('yellow', '?')} {self.pen.paint('bold', harmless(head))}")
        for line in rest:
            self.pen.line((INDENT + harmless(line)).rstrip())

    def _end(self, ended: TurnEnded) -> None:
        self.pen.end()
        self._calls.clear()
        self._texts.clear()
        self._item = self._held = ""
        if ended.reason != "done":
            mild = is_mild(ended)
            self.line(f"{'■' if mild else '✗'} {ending(ended)}", "yellow" if mild else "red")
        if self._usage and self._used:
            self.line(_used(self._used), "dim")

    # Drawing

    def _block(self, kind: str) -> None:
        """Begin something new, with an empty line round texts."""
        self.pen.end()
        self._item = self._held = ""
        if self._last and (kind in TEXTS or self._last in TEXTS):
            self.pen.line()
        self._last = kind

    def _glance(self) -> None:
        """Tell what is at work while nothing is drawn."""
        for call in self._calls.values():
            output = next((line for line in reversed(call.output.splitlines()) if line.strip()), "")
            self.pen.glance(f"● {call.name}  {gist(call.args)}" + (f"  {output}" if output else " …"))
            return
        self.pen.glance("thinking …")


def _used(used: list[Usage]) -> str:
    last = used[-1]
    known = [usage.cost for usage in used if usage.cost is not None]
    parts = [f"{sum(u.input for u in used):,} tokens in", f"{sum(u.output for u in used):,} out"]
    if known:
        parts.append(f"${sum(known):.4f}")
    if last.context_size:
        parts.append(f"{last.context_used / last.context_size:.0%} of the window")
    return f"· {', '.join(parts)}"
