"""The box that a person types into, with the list above it: keys in, whole messages out."""

import tempfile
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from pathlib import Path

from textual import on
from textual.app import ComposeResult
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Static, TextArea

from hermes.commands.registry import Completion
from hermes.protocol.errors import UserError
from hermes.tui.prompt.area import PromptArea, bound
from hermes.tui.prompt.clipboard import save_picture
from hermes.tui.prompt.dropped import dropped, is_picture, reference
from hermes.tui.prompt.external import edit
from hermes.tui.prompt.folds import Folds
from hermes.tui.prompt.history import PromptHistory
from hermes.tui.prompt.popup import Popup
from hermes.tui.prompt.recall import Recall
from hermes.tui.prompt.sequences import teach

LONGEST_START = 200
"""Characters up to which a beginning is looked for in the history."""
Completions = Callable[[str, int], Awaitable[list[Completion]]]


class PromptBox(Widget):
    """Takes in a message and posts it as Submitted.

    `completions` tells what can follow a text at a place in it; `environ` names the editor and says where programs
    are; `root` is the workspace that dropped files are named in, None if there is none on this machine.
    """

    DEFAULT_CSS = """
    PromptBox { height: auto; layout: vertical; }
    PromptBox > .note { height: auto; display: none; color: $text-muted; padding: 0 2; }
    PromptBox > .note.-shown { display: block; }
    """

    BINDINGS = [
        bound("up", "older"),
        bound("down", "newer"),
        bound("right,ctrl+f", "right"),
        bound("tab", "complete"),
        bound("escape", "dismiss"),
        bound("ctrl+r", "search"),
        bound("ctrl+g", "edit"),
        bound("alt+v,ctrl+v", "paste_picture"),
        bound("alt+o", "unfold"),
    ]

    placeholder: reactive[str] = reactive("")

    class Submitted(Message):
        """A message is to be sent."""

        def __init__(self, text: str, images: tuple[Path, ...]) -> None:
            super().__init__()
            self.text, self.images = text, images

    class Edited(Message):
        """What stands in the box has changed."""

    def __init__(
        self,
        completions: Completions,
        history: PromptHistory,
        *,
        environ: Mapping[str, str] | None = None,
        root: Callable[[], Path | None] = lambda: None,
        id: str | None = None,
    ) -> None:
        super().__init__(id=id)
        self._completions, self._history = completions, history
        self._environ, self._root = environ or {}, root
        self._recall = Recall(history)
        self._folds = Folds()
        self._images: list[Path] = []
        self._pictures: tempfile.TemporaryDirectory[str] | None = None
        self._loaded: str | None = None
        self._unwritten = ""
        self._searching: str | None = None
        self._popup = Popup()
        self._search_note = Static(classes="note")
        self._image_note = Static(classes="note")
        self._area = PromptArea(self)

    def compose(self) -> ComposeResult:
        yield self._popup
        yield self._search_note
        yield self._image_note
        yield self._area

    def on_mount(self) -> None:
        teach()
        self.run_worker(self._history.read, thread=True)

    def on_unmount(self) -> None:
        if self._pictures is not None:
            self._pictures.cleanup()

    # What others see

    @property
    def text(self) -> str:
        """What would be sent, pastes included."""
        return self._folds.unfold(self._area.text)

    @property
    def images(self) -> tuple[Path, ...]:
        """Pictures that would be sent along."""
        return tuple(self._images)

    def load(self, text: str) -> None:
        """Put another text into the box."""
        self._loaded = text
        self._area.fill(text)
        self._close_popup()

    def discard(self) -> None:
        """Empty the box; Up brings back what stood in it, in this process only: it may be a slip."""
        text = self.text.rstrip()
        if self._history.remember(text):
            self._unwritten = text
        self._forget()

    def put(self, text: str) -> None:
        """Type a text where the cursor is."""
        self._area.put(text)

    def focus(self, scroll_visible: bool = True) -> "PromptBox":
        self._area.focus(scroll_visible)
        return self

    def watch_placeholder(self, text: str) -> None:
        self._area.placeholder = text

    # Sending

    def entered(self) -> None:
        if self._searching is not None or (self._popup.is_open and self._popup.moved):
            return self._take()
        text = self.text.rstrip()
        if not text.strip() and not self._images:
            return
        images = self.images
        self._forget()
        if self._history.remember(text) or text == self._unwritten:
            self._unwritten = ""
            self.run_worker(partial(self._history.write, text), thread=True)
        self.post_message(self.Submitted(text, images))

    def _forget(self) -> None:
        """Begin a new message."""
        self.load("")
        self._folds.clear()
        self._images.clear()
        self._recall.leave()
        self._show_images()

    # Editing

    @on(TextArea.Changed)
    def _changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self.post_message(self.Edited())
        text = self._area.text
        if self._searching is not None:
            return self._popup.offer(self._recall.found(text))
        if text == self._loaded:  # put there by us: nobody is typing it
            return
        self._loaded = None
        self._recall.leave()
        self.run_worker(partial(self._look_up, text, self._area.cursor), group="completions", exclusive=True)

    async def _look_up(self, text: str, cursor: int) -> None:
        offers = await self._completions(text, cursor)
        if (text, self._searching) != (self._area.text, None):
            return
        self._popup.offer(offers)
        if offers and not self._area.suggestion and cursor == len(text):
            start = text[offers[0].start :]
            if offers[0].text.startswith(start):
                self._area.suggestion = offers[0].text[len(start) :].rstrip()

    def suggestion(self, text: str) -> str:
        if len(text) > LONGEST_START or self._searching is not None:
            return ""
        return self._recall.suggestion(text)

    def _close_popup(self) -> None:
        self.workers.cancel_group(self, "completions")
        self._popup.offer([])

    @on(Popup.Chosen)
    def _take(self) -> None:
        """Put what is marked in the list into the box."""
        if self._searching is not None:
            text = self._popup.chosen.text if self._popup.is_open else self._searching
            self._end_search(text)
        else:
            chosen = self._popup.chosen
            self._area.put_from(chosen.start, chosen.text)
        self._area.focus()

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Esc is for us only while there is something to close."""
        return action != "dismiss" or self._popup.is_open or self._searching is not None

    def action_older(self) -> None:
        if self._popup.is_open:
            return self._popup.move(-1)
        if not self._area.at_top:
            return self._area.action_cursor_up()
        if (entry := self._recall.older(self._area.text)) is not None:
            self.load(entry)

    def action_newer(self) -> None:
        if self._popup.is_open:
            return self._popup.move(1)
        if not self._area.at_bottom:
            return self._area.action_cursor_down()
        if (entry := self._recall.newer()) is not None:
            self.load(entry)

    def action_right(self) -> None:
        if self._area.suggestion:
            return self._area.put(self._area.suggestion)
        self._area.action_cursor_right()

    def action_complete(self) -> None:
        if self._popup.is_open or self._searching is not None:
            self._take()
        elif self._area.suggestion:
            self._area.put(self._area.suggestion)

    def action_dismiss(self) -> None:
        if self._searching is not None:
            self._end_search(self._searching)
        self._close_popup()

    # The history

    def action_search(self) -> None:
        """Look for words in the history; again goes to the next older entry."""
        if self._searching is not None:
            return self._popup.move(1) if self._popup.is_open else None
        self._close_popup()
        self._searching = self._area.text
        self._area.suggestion = ""
        self._search_note.update("search in what was typed before: Enter takes it, Ctrl+R the next, Esc leaves")
        self._search_note.add_class("-shown")
        self._popup.offer(self._recall.found(self._searching))

    def _end_search(self, text: str) -> None:
        self._searching = None
        self._search_note.remove_class("-shown")
        self.load(text)

    # Pastes, pictures, the editor

    def pasted(self, text: str) -> None:
        paths = dropped(text)
        if not paths:
            return self._area.put(self._folds.fold(text))
        self._images += [path for path in paths if is_picture(path)]
        self._show_images()
        if named := [reference(path, self._root()) for path in paths if not is_picture(path)]:
            self._area.put(" ".join(named) + " ")

    def action_unfold(self) -> None:
        """Show every paste in full."""
        if (text := self.text) != self._area.text:
            self._area.replace_all(text)

    def action_paste_picture(self) -> None:
        if self._pictures is None:
            self._pictures = tempfile.TemporaryDirectory(prefix="hermes-pictures-")
        self.run_worker(partial(self._paste_picture, Path(self._pictures.name)), group="picture", exclusive=True)

    async def _paste_picture(self, folder: Path) -> None:
        try:
            self._images.append(await save_picture(folder, self._environ))
        except UserError as error:
            if self.app.clipboard:
                return self._area.put(self._folds.fold(self.app.clipboard))
            self.notify(f"{error} ({error.hint})", severity="warning")
        self._show_images()

    def _show_images(self) -> None:
        names = [f"[picture {number}: {path.name}]" for number, path in enumerate(self._images, 1)]
        self._image_note.update(Content(" ".join([*names, "Backspace in an empty box takes the last away"])))
        self._image_note.set_class(bool(names), "-shown")

    def emptied(self) -> None:
        if self._images:
            self._images.pop()
            self._show_images()

    def action_edit(self) -> None:
        """Open the whole text in the person's editor."""
        self.run_worker(self._edit, group="editor", exclusive=True)

    async def _edit(self) -> None:
        try:
            text = await edit(self.app, self.text, self._environ)
        except UserError as error:
            return self.notify(f"{error} ({error.hint})", severity="warning")
        if text != self.text:
            self._area.replace_all(text)
        self._area.focus()
