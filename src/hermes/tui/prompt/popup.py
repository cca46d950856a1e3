"""The list above the box: what can follow, or what was typed before, with one of them marked."""

from rich.cells import cell_len, set_cell_size
from textual import events
from textual.content import Content
from textual.message import Message
from textual.reactive import reactive
from textual.widget import Widget

from hermes.commands.registry import Completion

ROWS = 8


class Popup(Widget):
    """Shows offers, a few at a time; hidden while there are none."""

    DEFAULT_CSS = """
    Popup { height: auto; max-height: 8; display: none; background: $panel; padding: 0 1; }
    Popup.-open { display: block; }
    """

    index: reactive[int] = reactive(0)

    class Chosen(Message):
        """One of the offers was clicked."""

    def __init__(self) -> None:
        super().__init__()
        self.offers: list[Completion] = []
        self.moved = False
        """Whether the person has moved to an offer: then Enter takes it, and does not send."""

    @property
    def is_open(self) -> bool:
        return bool(self.offers)

    @property
    def chosen(self) -> Completion:
        return self.offers[self.index]

    def offer(self, offers: list[Completion]) -> None:
        """Show other offers, or none; the first is marked."""
        before, self.offers = self._rows, offers
        self.moved, self.index = False, 0
        self.set_class(self.is_open, "-open")
        # A layout is the dearest part of a key, and most keys find nothing to offer.
        if before or self._rows:
            self.refresh(layout=before != self._rows)

    def move(self, rows: int) -> None:
        """Mark another offer; behind the last comes the first again."""
        self.moved = True
        self.index = (self.index + rows) % len(self.offers)

    @property
    def _rows(self) -> int:
        return min(len(self.offers), ROWS)

    def get_content_height(self, container: object, viewport: object, width: int) -> int:
        return self._rows

    def render(self) -> Content:
        width = self.content_size.width
        first = self._first()
        shown = self.offers[first : first + ROWS]
        labels = [_one_line(offer.label or offer.text) for offer in shown]
        column = min(max(map(cell_len, labels), default=0), max(10, width * 3 // 5))
        rows = [
            self._row(label, _one_line(offer.help), column, width, marked=first + place == self.index)
            for place, (label, offer) in enumerate(zip(labels, shown, strict=True))
        ]
        return Content("\n").join(rows)

    def on_click(self, event: events.Click) -> None:
        event.stop()
        row = self._first() + event.y
        if 0 <= row < len(self.offers):
            self.index = row
            self.post_message(self.Chosen())

    def _first(self) -> int:
        """The offer in the first row: the marked one is always to be seen."""
        return max(0, min(self.index - ROWS // 2, len(self.offers) - ROWS))

    def _row(self, label: str, told: str, column: int, width: int, *, marked: bool) -> Content:
        label = set_cell_size(_cut(label, column), column)
        told = _cut(told, width - column - 2)
        row = (
            Content.assemble((label, "$accent"), "  ", (told, "$text-muted"))
            if told
            else Content.styled(label, "$accent")
        )
        return row.stylize("reverse") if marked else row


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _cut(text: str, length: int) -> str:
    return text if cell_len(text) <= length else set_cell_size(text, max(0, length - 1)) + "…"
