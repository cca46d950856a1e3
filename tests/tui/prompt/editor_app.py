"""The box at a real terminal, for a test that lends it to an editor: argv has the folder of the history and the editor."""

import os
import sys
from pathlib import Path

from hermes.tui.prompt.box import PromptBox
from hermes.tui.prompt.history import PromptHistory
from tests.tui.prompt.desk import Screen, nothing


class RealScreen(Screen):
    """Lends its terminal, and goes on counting meanwhile as a screen with a running session would."""

    suspend = Screen.__mro__[1].suspend

    def on_mount(self) -> None:
        super().on_mount()
        self.count = 0
        self.set_interval(0.01, self._tick)

    def _tick(self) -> None:
        self.count += 1
        self._box.placeholder = f"tick {self.count}"

    def on_prompt_box_submitted(self, event: PromptBox.Submitted) -> None:
        self.exit(message=f"sent {event.text!r} after {'many' if self.count > 50 else 'few'} ticks")


folder, editor = Path(sys.argv[1]), sys.argv[2]
environ = {**os.environ, "EDITOR": editor}
RealScreen(PromptBox(nothing, PromptHistory(folder / "history"), environ=environ)).run()
