"""The conversation on the screen: one widget that draws only the lines that can be seen."""

import time

from textual import events
from textual.binding import Binding
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.reactive import Reactive
from textual.scroll_view import ScrollView
from textual.selection import Selection
from textual.strip import Strip
from textual.timer import Timer

from hermes.tui.blocks import Block, View
from hermes.tui.page import Page

BEAT = 0.05
"""Seconds between two drawings of what grows: what comes meanwhile is drawn together."""
TYPING_BEAT, TYPING = 0.2, 0.4
"""The same while somebody types, which goes on for so many seconds after a key: keys come first."""
REST = 4
"""Times as long as a drawing took, before the next one: what is dear to draw leaves time for keys."""
STRIPS = 1000
"""Lines that are kept as they were drawn."""


class Transcript(ScrollView, can_focus=True):
    """Shows a page, and stays at its end until somebody scrolls up."""

    DEFAULT_CSS = """
    Transcript {
        height: 1fr;
        padding: 0 1;
        overflow-x: hidden;
        scrollbar-gutter: stable;
        scrollbar-size-vertical: 1;
        scrollbar-color: $hermes-dim;
        scrollbar-color-hover: $hermes-title;
        scrollbar-color-active: $hermes-title;
        scrollbar-background: $background;
        scrollbar-background-hover: $background;
        scrollbar-background-active: $background;
        background: $background;
    }
    """
    BINDINGS = [
        Binding("up", "choose(-1)", "previous", show=False),
        Binding("down", "choose(1)", "next", show=False),
        Binding("enter,space", "fold", "fold or open", show=False),
    ]

    FOCUS_ON_CLICK = False
    # Our own size does not depend on what is in us, so a longer page needs no layout: that is the dearest part of drawing it.
    virtual_size: Reactive[Size] = Reactive(Size(0, 0))

    class Left(Message):
        """The person wants to type again; `text` is what they have typed already."""

        def __init__(self, text: str = "") -> None:
            super().__init__()
            self.text = text

    def __init__(self, page: Page, view: View) -> None:
        super().__init__()
        self._page, self._view = page, view
        self._chosen: Block | None = None
        self._next: Timer | None = None
        self._follows = True
        self._typed = self._took = 0.0
        self._strips: dict[int, tuple[Content, Strip]] = {}

    # What is shown

    @property
    def view(self) -> View:
        return self._view

    @view.setter
    def view(self, view: View) -> None:
        self._view = view
        self.draw()
        self.refresh()

    def show(self, page: Page) -> None:
        """Turn to another conversation, at its end."""
        self._page, self._chosen, self._follows = page, None, True
        self._strips.clear()
        self.draw()
        self.refresh()

    def follow(self) -> None:
        """Go to the end, and stay there."""
        self._follows = True
        self.draw()

    def soon(self) -> None:
        """Draw what has changed, with what changes in the next moment."""
        if self._next is None and self.is_attached:
            types = time.monotonic() - self._typed < TYPING
            self._next = self.set_timer(max(TYPING_BEAT if types else BEAT, REST * self._took), self.draw)

    def make_way(self) -> None:
        """Somebody has pressed a key."""
        self._typed = time.monotonic()

    def draw(self) -> None:
        """Draw what has changed; of much that is new a portion, and the next one soon."""
        if self._next is not None:
            self._next.stop()
            self._next = None
        width = self.scrollable_content_region.width
        if width <= 0:
            return
        began, before = time.thread_time(), self._page.height
        self._page.lay_out(width, self._view)
        first = self._page.update(trim=self._follows)
        self._took = time.thread_time() - began
        # Who reads further up stays there while the lines below are made anew.
        kept = self.virtual_size.height if self._page.behind and not self._follows else 0
        self.virtual_size = Size(width, max(kept, self._page.height))
        if self._follows:
            # Forced: the scrollbar, which would allow it, comes only with the next layout.
            self.scroll_end(animate=False, immediate=True, force=True)
        self.refresh_lines(first, max(before, self._page.height) - first)
        if self._page.behind:
            self.soon()

    def watch_virtual_size(self, size: Size) -> None:
        self._scroll_update(size)

    def on_resize(self) -> None:
        self._strips.clear()
        self.draw()
        self.refresh()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        self._follows = new_value >= self.max_scroll_y
        if new_value <= 0 and old_value > 0 and not self._page.complete:
            self.call_later(self._go_on_upwards)

    def scroll_back(self) -> None:
        """Go a page up, also into what is not laid out yet."""
        if self.scroll_offset.y == 0 and not self._page.complete:
            self._go_on_upwards()
        self.scroll_page_up(animate=False, force=True)

    def on_mouse_scroll_up(self) -> None:
        if self.scroll_offset.y == 0 and not self._page.complete:
            self._go_on_upwards()

    def _go_on_upwards(self) -> None:
        """What stood at the top stays where it is, with older blocks above it."""
        self._strips.clear()
        more = self._page.load_older()
        self.virtual_size = Size(self.virtual_size.width, self._page.height)
        self.scroll_to(y=self.scroll_y + more, animate=False, force=True)

    # Lines

    def render_line(self, y: int) -> Strip:
        at = y + self.scroll_offset.y
        line = self._page.line(at)
        if line is None:
            return Strip.blank(self.size.width, self.rich_style)
        known = self._strips.get(at)
        if known is None or known[0] is not line or self._chosen or self.text_selection:
            if len(self._strips) >= STRIPS:
                self._strips.clear()
            known = self._strips[at] = line, self._strip(line, at)
        return known[1]

    def _strip(self, line: Content, at: int) -> Strip:
        width, base = self.size.width, self.visual_style
        if self._chosen is not None and self._page.block_at(at) is self._chosen:
            line = line.stylize_before("on $surface")
        if (selection := self.text_selection) is not None and (span := selection.get_span(at)) is not None:
            start, end = span
            line = line.stylize("reverse", start, end if end >= 0 else None)
        strip = Strip(line.render_segments(base), line.cell_length)
        return strip.crop_extend(0, width, base.rich_style).apply_offsets(0, at)

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract(self._page.text()), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self._strips.clear()
        self.refresh()

    @property
    def allow_select(self) -> bool:
        return True

    # Folding

    def on_click(self, event: events.Click) -> None:
        at = event.get_content_offset(self)
        block = self._page.block_at(at.y + self.scroll_offset.y) if at is not None else None
        if block is not None and block.foldable and not self.text_selection:
            self._fold(block)

    def on_key(self, event: events.Key) -> None:
        """A letter is meant for the box."""
        if event.character is not None and event.is_printable and event.key != "space":
            event.stop()
            self.post_message(self.Left(event.character))

    def on_blur(self) -> None:
        self._chosen = None
        self._strips.clear()
        self.refresh()

    def action_choose(self, step: int) -> None:
        """Go to the next block that can be folded; past the last one, back to typing."""
        there = self._page.foldable()
        here = there.index(self._chosen) if self._chosen in there else len(there)
        if here + step >= len(there):
            self.post_message(self.Left())
        elif here + step >= 0:
            self._chosen = there[here + step]
            start, _ = self._page.place_of(self._chosen)
            if not self.scroll_offset.y <= start < self.scroll_offset.y + self.size.height:
                self.scroll_to(y=max(0, start - 2), animate=False)
        self.refresh()

    def action_fold(self) -> None:
        if self._chosen is not None:
            self._fold(self._chosen)

    def _fold(self, block: Block) -> None:
        block.fold(self._view)
        self._page.touch(block)
        follows, self._follows = self._follows, False
        self.draw()
        self._follows = follows and self.scroll_offset.y >= self.max_scroll_y
