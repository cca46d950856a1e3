"""The small dialog for what a session asks: choices, an answer to type, fields to fill in, a secret that is not shown."""

import time
from collections.abc import Iterator

import msgspec
from msgspec import Struct
from textual import events, on
from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical, VerticalScroll
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, Label, OptionList, Static
from textual.widgets.option_list import Option

from hermes.commands.requests import effect
from hermes.commands.words import harmless
from hermes.protocol.events import Approval, Asked, Form, Login, Question, Request, Secret
from hermes.protocol.ops import Answer
from hermes.tui.fields import Field, fields_of
from hermes.tui.wrapping import wrap

EARLY = 0.3
"""Seconds in which a key was meant for what stood here before."""
ROOM = 8
"""Lines of what is asked about that are seen at first."""
LISTED = 12
"""Choices that are seen at once."""
FRAME = 6
"""Columns that the frame round them and their scroll bar take."""
APPROVALS = {
    "once": "yes, once",
    "session": "yes, for this session",
    "always": "yes, always",
    "deny": "no",
}
OTHER = "something else …"


class Choice(Struct, frozen=True):
    """A line to choose: its key, and the answer it gives; without one it opens the line to type in, or shows all."""

    key: str
    label: str
    answer: Answer | None = None
    does: str = ""


class Dialog(Vertical):
    """One question. It takes no key in its first moment, so that nobody answers it with what they were typing."""

    DEFAULT_CSS = """
    Dialog { height: auto; max-height: 80%; border: round $hermes-rule; padding: 0 1; background: $surface; }
    Dialog #asked { text-style: bold; height: auto; }
    Dialog #about { height: auto; }
    Dialog OptionList, Dialog OptionList:focus { height: auto; max-height: 12; border: none; padding: 0; background: $surface; }
    Dialog Input { border: tall $hermes-rule; }
    Dialog #fields { height: auto; max-height: 50vh; }
    """

    # Before the list of choices, which would take them.
    BINDINGS = [
        Binding("pageup", "page(-1)", "up", show=False, priority=True),
        Binding("pagedown", "page(1)", "down", show=False, priority=True),
    ]

    class Given(Message):
        """An answer to what was asked."""

        def __init__(self, asked: Asked, answer: Answer) -> None:
            super().__init__()
            self.asked, self.answer = asked, answer

    def __init__(self, asked: Asked, *, closed: bool = False) -> None:
        """With `closed` nothing can be answered but what is offered."""
        super().__init__()
        self.asked = asked
        self._shown = time.monotonic()
        self._closed = closed
        self._all = False
        self._choices: list[Choice] = []
        self._fields: list[Field] = fields_of(asked.request.schema) if isinstance(asked.request, Form) else []

    def compose(self) -> ComposeResult:
        head, about = parts(self.asked.request)
        long = len(self._wrapped(about)) > min(ROOM, self._room)
        self._choices = [one for one in choices(self.asked, long=long) if not (self._closed and one.does)]
        yield Static(harmless(head), id="asked", markup=False)
        if about:
            with VerticalScroll(id="about", can_focus=False):
                yield Static(harmless(about), markup=False)
        if self._fields:
            with VerticalScroll(id="fields", can_focus=False):
                for field in self._fields:
                    yield Label(harmless(field.label), markup=False)
                    yield Input(field.default, placeholder=field.takes, id=field.id)
        request = self.asked.request
        if isinstance(request, Secret) or (isinstance(request, Question) and not request.choices):
            yield Input(password=isinstance(request, Secret), placeholder="your answer", id="answer")
        elif self._choices:
            yield OptionList(*(Option(f"{one.key}  {harmless(one.label)}") for one in self._choices), markup=False)

    def on_mount(self) -> None:
        self._shown = time.monotonic()
        self.query("Input, OptionList").first().focus()

    def on_resize(self) -> None:
        self._fit()

    def _fit(self) -> None:
        """What is asked about has no more lines than the choices leave it."""
        for about in self.query("#about"):
            about.styles.max_height = self._room if self._all else min(ROOM, self._room)

    @property
    def _room(self) -> int:
        head = len(self._wrapped(parts(self.asked.request)[0]))
        below = min(LISTED, len(list(choices(self.asked, long=True)))) or 3  # the line to type in has a frame
        return max(2, self.app.size.height * 4 // 5 - 2 - head - below)

    def _wrapped(self, text: str) -> list[Content]:
        return wrap(Content(harmless(text)), self.app.size.width - FRAME)

    def on_key(self, event: events.Key) -> None:
        if isinstance(self.app.focused, Input):
            return
        found = next((one for one in self._choices if one.key == event.key), None)
        if found is not None:
            event.stop()
            if time.monotonic() - self._shown >= EARLY:
                self._choose(found)

    @on(OptionList.OptionSelected)
    def _selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        if time.monotonic() - self._shown >= EARLY:
            self._choose(self._choices[event.option_index])

    def _choose(self, choice: Choice) -> None:
        match choice.does:
            case "all":
                self._all = not self._all
                self._fit()
            case "type":
                self._type(choice)
            case "send":
                self._send_fields()
            case _ if choice.answer is not None:
                self.post_message(self.Given(self.asked, choice.answer))

    def action_page(self, way: int) -> None:
        """Scroll in what is asked about."""
        for about in self.query("#about").results(VerticalScroll):
            about.scroll_relative(y=way * max(1, about.size.height - 1), animate=False)

    def _type(self, choice: Choice) -> None:
        """Swap the list for a line to type in."""
        self.query_one(OptionList).display = False
        line = Input(placeholder="why not" if isinstance(self.asked.request, Approval) else "your answer", id="answer")
        self.mount(line)
        line.focus()

    @on(Input.Submitted, "#answer")
    def _typed(self, event: Input.Submitted) -> None:
        event.stop()
        if time.monotonic() - self._shown < EARLY:
            return
        request, text = self.asked.request, event.value
        if isinstance(request, Secret):
            given = Answer(request_id=self.asked.request_id, data=msgspec.Raw(msgspec.json.encode(text)))
        elif not text.strip():
            return
        elif isinstance(request, Approval):
            given = Answer(request_id=self.asked.request_id, choice="deny", text=text.strip())
        else:
            given = Answer(request_id=self.asked.request_id, text=text.strip())
        self.post_message(self.Given(self.asked, given))

    @on(Input.Submitted, "#fields Input")
    def _next_field(self, event: Input.Submitted) -> None:
        event.stop()
        self.screen.focus_next()

    def _send_fields(self) -> None:
        lines = [f"{field.name}: {self.query_one(f'#{field.id}', Input).value}" for field in self._fields]
        filled = [line for line, field in zip(lines, self._fields, strict=True) if line != f"{field.name}: "]
        self.post_message(self.Given(self.asked, Answer(request_id=self.asked.request_id, text="\n".join(filled))))


def parts(request: Request) -> tuple[str, str]:
    """What is asked, and what it is about in full: nobody can judge what was cut off."""
    match request:
        case Approval(action=action, why=why):
            phrase, exactly = effect(action)
            return f"May I {phrase}?" + (f" ({why})" if why else ""), exactly
        case Login(url=url, text=text):
            return text or "Log in:", url
        case Question(text=text) | Secret(text=text) | Form(text=text):
            head, _, rest = text.partition("\n")
            return head, rest


def choices(asked: Asked, *, long: bool = False) -> Iterator[Choice]:
    """What can be chosen, each with its key; `long` if not all of what is asked about can be seen at once."""
    name = asked.request_id
    match asked.request:
        case Approval(choices=offered):
            for one in offered:
                key = "n" if one == "deny" else one[0]
                yield Choice(key, APPROVALS.get(one, one), Answer(request_id=name, choice=one))
            if "deny" in offered:
                yield Choice("b", "no, because …", does="type")
        case Question(choices=offered) if offered:
            for number, one in enumerate(offered, 1):
                yield Choice(str(number), one, Answer(request_id=name, choice=one))
            yield Choice("0", OTHER, does="type")
        case Login():
            yield Choice("d", "done", Answer(request_id=name, text="done"))
            yield Choice("n", "no", Answer(request_id=name, choice="decline", text="decline"))
        case Form():
            yield Choice("s", "send", does="send")
            yield Choice("n", "no", Answer(request_id=name, choice="decline", text="decline"))
        case _:
            return
    if long:
        yield Choice("f", "show all of it, or less (PageUp, PageDown scroll)", does="all")
