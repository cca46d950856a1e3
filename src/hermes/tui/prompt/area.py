"""The text itself: what is typed, moved over and taken back, with the keys that people have in their fingers."""

from typing import Protocol

from textual import events
from textual.binding import Binding
from textual.document._document import Location
from textual.widgets import TextArea

from hermes.tui.prompt.folds import PLACEHOLDER


def bound(keys: str, action: str) -> Binding:
    """A key that does something without being listed anywhere."""
    return Binding(keys, action, show=False)


class Owner(Protocol):
    """Whoever the area is part of: it hears at once what Enter and pastes mean, before the next key is taken."""

    def entered(self) -> None: ...

    def pasted(self, text: str) -> None: ...

    def emptied(self) -> None:
        """Backspace was pressed where there is nothing left."""
        ...

    def action_edit(self) -> None: ...

    def suggestion(self, text: str) -> str:
        """How a text might go on."""
        ...


class PromptArea(TextArea, inherit_bindings=False):
    """A text area that sends on Enter. Of the keys of a text area it leaves to others what the screen needs."""

    DEFAULT_CSS = """
    PromptArea { height: auto; max-height: 12; border: round $border-blurred; background: transparent; padding: 0 1; }
    PromptArea:focus { border: round $border; }
    """

    BINDINGS = [
        bound("left,ctrl+b", "cursor_left"),
        bound("ctrl+left,alt+left,alt+b", "cursor_word_left"),
        bound("ctrl+right,alt+right,alt+f", "cursor_word_right"),
        bound("home,ctrl+a", "cursor_line_start"),
        bound("end,ctrl+e", "cursor_line_end"),
        bound("ctrl+home,alt+less_than_sign", "start_of_text"),
        bound("ctrl+end,alt+greater_than_sign", "end_of_text"),
        bound("shift+left", "cursor_left(True)"),
        bound("shift+right", "cursor_right(True)"),
        bound("shift+up", "cursor_up(True)"),
        bound("shift+down", "cursor_down(True)"),
        bound("ctrl+shift+left", "cursor_word_left(True)"),
        bound("ctrl+shift+right", "cursor_word_right(True)"),
        bound("shift+home", "cursor_line_start(True)"),
        bound("shift+end", "cursor_line_end(True)"),
        bound("f7", "select_all"),
        bound("backspace", "delete_left"),
        bound("delete", "delete_right"),
        bound("ctrl+w,ctrl+backspace,alt+backspace", "delete_word_left"),
        bound("alt+delete,alt+d,ctrl+delete", "delete_word_right"),
        bound("ctrl+u,super+backspace", "delete_to_start_of_line"),
        bound("ctrl+k", "delete_to_end_of_line_or_delete_line"),
        bound("super+x", "cut"),
        bound("super+c", "copy"),
        bound("ctrl+underscore,super+z", "undo"),
        bound("ctrl+y,alt+underscore,super+y", "redo"),
        bound("alt+enter,shift+enter,ctrl+j", "new_line"),
    ]

    def __init__(self, owner: Owner) -> None:
        super().__init__(soft_wrap=True, highlight_cursor_line=False)
        self._owner = owner
        self._after_ctrl_x = False

    @property
    def cursor(self) -> int:
        """Where the cursor stands in the text."""
        row, column = self.cursor_location
        return sum(len(line) + 1 for line in self.document.lines[:row]) + column

    @property
    def at_top(self) -> bool:
        """Whether the cursor is in the first line as it is shown."""
        return self.wrapped_document.location_to_offset(self.cursor_location).y == 0

    @property
    def at_bottom(self) -> bool:
        return self.wrapped_document.location_to_offset(self.cursor_location).y == self.wrapped_document.height - 1

    def fill(self, text: str) -> None:
        """Another text, with the cursor behind it."""
        self.load_text(text.replace("\r\n", "\n").replace("\r", "\n"))
        self.move_cursor(self.document.end)

    def put(self, text: str) -> None:
        """Type a text, in the place of what is selected; it can be taken back as a whole."""
        self.history.checkpoint()
        text = text.replace("\r\n", "\n").replace("\r", "\n")
        self.move_cursor(self.replace(text, *sorted(self.selection), maintain_selection_offset=False).end_location)

    def put_from(self, start: int, text: str) -> None:
        """Type a text in the place of what stands from `start` to the cursor."""
        self.selection = type(self.selection)(self._location(start), self.cursor_location)
        self.put(text)

    def replace_all(self, text: str) -> None:
        """Another text that can be taken back."""
        self.select_all()
        self.put(text)

    def update_suggestion(self) -> None:
        self.suggestion = self._owner.suggestion(self.text) if self.cursor_at_end_of_text and self.text else ""

    def find_matching_bracket(self, bracket: str, search_from: Location) -> Location | None:
        """None: in a message brackets need no partner, and looking for one takes long in a large text."""
        return None

    def _recompute_cursor_offset(self) -> None:
        # While a large edit is taken back and its scrollbar goes, Textual asks for a line that is no longer there.
        place = self.clamp_visitable(self.cursor_location)
        self._cursor_offset = self.wrapped_document.location_to_offset(place)

    def action_new_line(self) -> None:
        self.put("\n")

    def action_start_of_text(self) -> None:
        self.move_cursor((0, 0))

    def action_end_of_text(self) -> None:
        self.move_cursor(self.document.end)

    def action_delete_left(self) -> None:
        """The character before the cursor, or the whole paste that it is the end of."""
        if not self.text:
            return self._owner.emptied()
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        for found in PLACEHOLDER.finditer(before):
            if found.end() == column and self.selection.is_empty:
                self.selection = type(self.selection)((row, found.start()), (row, column))
                return self.put("")
        super().action_delete_left()

    async def _on_key(self, event: events.Key) -> None:
        called, self._after_ctrl_x = self._after_ctrl_x and event.key == "ctrl+e", event.key == "ctrl+x"
        if called:
            self._owner.action_edit()
        elif event.key == "enter":
            self._owner.entered()
        elif event.is_printable or not await self._run(event.key):
            return
        self._restart_blink()
        event.stop()
        event.prevent_default()

    async def _run(self, key: str) -> bool:
        """Do what a key is bound to, here or in the box.

        Textual does that only when the key has wandered up to the app; letters typed meanwhile would overtake it.
        """
        for node in (self, self.parent):
            for binding in node._bindings.key_to_bindings.get(key, ()) if node else ():
                if await self.app.run_action(binding.action, node):
                    return True
        return False

    async def _on_paste(self, event: events.Paste) -> None:
        event.stop()
        event.prevent_default()
        self._owner.pasted(event.text.replace("\r\n", "\n").replace("\r", "\n"))

    def on_text_area_selection_changed(self) -> None:
        self.update_suggestion()

    def _location(self, index: int) -> Location:
        for row, line in enumerate(self.document.lines):
            if index <= len(line):
                return row, index
            index -= len(line) + 1
        return self.document.end
