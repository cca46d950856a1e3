"""A list of sessions to go to: those that are open here, with what they do, and the latest others."""

from textual.app import ComposeResult
from textual.binding import Binding
from textual.containers import Vertical
from textual.screen import ModalScreen
from textual.widgets import OptionList, Static
from textual.widgets.option_list import Option

from hermes.commands.words import harmless
from hermes.tui.conversations import Entry

NEW = "+"
"""What is chosen when a new session is wanted."""


class Switcher(ModalScreen[str]):
    """Gives the id of a session, NEW, or nothing."""

    AUTO_FOCUS = "OptionList"
    # What lies below is seen through it, against what the app says of every screen.
    CSS = "Switcher { background: $background 60%; }"
    DEFAULT_CSS = """
    Switcher { align: center middle; }
    Switcher Vertical { width: 80%; max-width: 90; height: auto; max-height: 80%; border: round $hermes-rule;
        background: $surface; padding: 0 1; }
    Switcher OptionList, Switcher OptionList:focus { height: auto; max-height: 20; border: none; padding: 0;
        background: $surface; text-wrap: nowrap; text-overflow: ellipsis; }
    """
    BINDINGS = [Binding("escape,ctrl+t", "leave", "back", show=False)]

    def __init__(self, entries: list[Entry], front: str) -> None:
        super().__init__()
        self._entries = entries
        self._front = front

    def compose(self) -> ComposeResult:
        with Vertical():
            yield Static("Sessions: Enter goes to one, Esc back", markup=False)
            yield OptionList(
                *map(self._option, self._entries), Option(f"     {NEW}  a new session", id=NEW), markup=False
            )

    def on_mount(self) -> None:
        listed = self.query_one(OptionList)
        places = [number for number, entry in enumerate(self._entries) if entry.id == self._front]
        listed.highlighted = places[0] if places else 0

    def _option(self, entry: Entry) -> Option:
        here = " (in front)" if entry.id == self._front else ""
        return Option(f"{entry.age:>4} {entry.mark or ' '}  {harmless(entry.title)}{here}", id=entry.id)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        self.dismiss(event.option.id or "")

    def action_leave(self) -> None:
        self.dismiss("")
