"""A tool call on the screen: its live output while it runs, then what came of it, folded to a few lines or in full."""

import time

from textual.content import Content

from hermes.commands.words import QUIET, about, changed_lines, counts, first_lines, gist, harmless, notes
from hermes.protocol.items import ToolCall, text_of
from hermes.tui.blocks import Block, Part, State, View
from hermes.tui.wrapping import cut, styled, wrap

TAIL_SHOWN, OUTPUT_SHOWN, DIFF_SHOWN, MOST_SHOWN = 5, 3, 12, 2_000
OUTPUT_KEPT = 20_000
INDENT = "  "
DIFF = {"+": "$text-success", "-": "$text-error", "@": "$text-accent"}


class Called(Block):
    """A call; `args` and `output` grow while it runs."""

    part: Part = "tools"
    gap = False

    def __init__(self, call: ToolCall, *, repeats: bool = False) -> None:
        super().__init__()
        self.call = call
        self._repeats = repeats
        self.args = call.args
        self.output = ""
        self._began = time.monotonic()

    @property
    def running(self) -> bool:
        return self.call.status == "running"

    @property
    def foldable(self) -> bool:
        return True

    def shown(self, view: View) -> State:
        return "hidden" if self._repeats and view.only_new else super().shown(view)

    def grow(self, text: str) -> None:
        self.output = (self.output + text)[-OUTPUT_KEPT:]

    def finish(self, call: ToolCall) -> None:
        self.call = call

    def lines(self, width: int, view: View) -> list[Content]:
        lines = [self._head(width, view)]
        if self.running:
            return [*lines, *_plain(self._live(), width, TAIL_SHOWN)]
        is_open = self.shown(view) == "open"
        if is_open and (args := harmless(self.call.args).strip()) and not self.call.files:
            lines += wrap(styled(args, "$hermes-dim"), width, INDENT, INDENT)
        changed = [file for file in self.call.files if file.diff]
        for file in changed:
            if len(changed) > 1:
                lines.append(cut(styled(f"{INDENT}{harmless(file.path)}  {counts((file,))}", "$hermes-dim"), width))
            lines += _diff(changed_lines(file), width, MOST_SHOWN if is_open else DIFF_SHOWN)
        if not changed and (is_open or self.call.status != "done" or self.call.kind not in QUIET):
            result = harmless(self.call.shown or text_of(self.call.result)).splitlines()
            lines += _plain(result, width, MOST_SHOWN if is_open else OUTPUT_SHOWN)
        return lines

    def _head(self, width: int, view: View) -> Content:
        call = self.call
        bad = not self.running and call.status != "done"
        colour = "$warning" if self.running else "$error" if bad else "$success"
        sign = dict(view.signs).get(call.name, view.sign)
        tail = "".join(f"  {note}" for note in self._notes())
        name = cut(Content(harmless(call.name)), width // 2)
        title = " ".join(harmless(about(call) if not self.running else call.title or gist(self.args)).split())
        room = width - len(sign) - 1 - name.cell_length - len(tail)
        beside = cut(Content(f"  {title}"), max(room, 8)) if title else Content("")
        return Content.assemble(
            (f"{sign} ", colour), name.stylize("bold"), beside, (tail, "$text-error" if bad else "$hermes-dim")
        )

    def _notes(self) -> list[str]:
        if not self.running:
            return notes(self.call)
        seconds = time.monotonic() - self._began
        return [f"{seconds:.0f} s …" if seconds >= 1 else "…"]

    def _live(self) -> list[str]:
        return harmless(self.output).splitlines()[-TAIL_SHOWN:]


def _plain(lines: list[str], width: int, most: int) -> list[Content]:
    return [cut(styled(INDENT + line.expandtabs(4), "$hermes-dim"), width) for line in first_lines(lines, most)]


def _diff(lines: list[str], width: int, most: int) -> list[Content]:
    return [
        cut(styled(INDENT + harmless(line).expandtabs(4), DIFF.get(line[:1], "$hermes-dim")), width)
        for line in first_lines(lines, most)
    ]
