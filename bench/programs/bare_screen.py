"""The least that Textual can paint with a box to type in: what a first paint costs anyone."""

from textual.app import App, ComposeResult
from textual.widgets import Static, TextArea


class Bare(App[None]):
    def compose(self) -> ComposeResult:
        yield Static("painted")
        yield TextArea()

    def on_mount(self) -> None:
        self.query_one(TextArea).focus()


Bare().run()
