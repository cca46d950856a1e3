"""The two lines of figures: what is at work now, and how the session stands."""

import time
from collections.abc import Callable

from msgspec import Struct
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from hermes.commands.numbers import short, span
from hermes.tui.blocks import State
from hermes.tui.skins import Skin
from hermes.tui.wrapping import cut, styled

WIDE = 76
"""Columns from which there is room for long figures."""
BAR = 10
FRAME = 0.12
FACES: dict[str, tuple[str, ...]] = {"skin": (), "dots": tuple("⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"), "ascii": ("|", "/", "-", "\\")}
"""What moves, besides the faces of the skin."""


class Facts(Struct, frozen=True, kw_only=True):
    """How a session stands; `servers` is how many MCP servers work, and of how many."""

    model: str = ""
    used: int = 0
    size: int = 0
    cost: float | None = None
    seconds: float = 0.0
    servers: tuple[int, int] = (0, 0)
    background: int = 0
    sessions: int = 1
    asking: int = 0
    """Other sessions that wait for an answer."""


def figures(facts: Facts, width: int) -> Content:
    """One line of as many whole figures as the width has room for; what waits for the person comes before the others."""
    share = facts.used / facts.size if facts.size else 0.0
    percent = styled(f"{share:.0%}", colour(share)) if facts.size else Content("")
    tokens = f"{short(facts.used)}/{short(facts.size)}" if facts.size else f"{short(facts.used)} tokens"
    wide = width >= WIDE
    found = (
        _name(facts.model or "no model yet", 32 if wide else 24),
        styled(f"{facts.asking} asks: Ctrl+T", "$warning") if facts.asking else "",
        tokens if wide or not facts.size else "",
        _bar(share) + percent if wide and facts.size else percent,
        "" if facts.cost is None else f"${facts.cost:.4f}",
        span(facts.seconds),
        _servers(facts.servers),
        f"{facts.background} in background" if facts.background else "",
        f"{facts.sessions} sessions" if facts.sessions > 1 else "",
    )
    parts = [Content(part) if isinstance(part, str) else part for part in found if part]
    rule = styled(" │ ", "$hermes-dim")
    while len(parts) > 1 and rule.join(parts).cell_length > width:
        parts.pop()
    return cut(rule.join(parts), width)


def _name(model: str, room: int) -> Content:
    """A model by its whole name, or by what stands behind its vendor."""
    return cut(Content(model if len(model) <= room else model.rpartition("/")[2]), room)


def colour(share: float) -> str:
    """The more of the window is used, the warmer."""
    if share < 0.5:
        return "$success"
    if share < 0.8:
        return "yellow"
    return "darkorange" if share < 0.95 else "$error"


def _bar(share: float) -> Content:
    full = min(BAR, round(share * BAR))
    return styled("█" * full, colour(share)) + styled("░" * (BAR - full) + " ", "$hermes-dim")


def _servers(servers: tuple[int, int]) -> Content:
    works, there = servers
    if not there:
        return Content("")
    return styled(f"MCP {works}/{there}", "$success" if works == there else "$warning")


class StatusBar(Widget):
    """How the session stands, at the bottom."""

    DEFAULT_CSS = "StatusBar { height: 1; padding: 0 1; background: $surface; color: $foreground; }"
    facts: reactive[Facts] = reactive(Facts)

    def switch(self, wanted: str) -> str:
        """Be shown or not; without a word, the other of the two."""
        self.display = {"on": True, "off": False}.get(wanted, not self.display)
        return f"line of figures: {'on' if self.display else 'off'}"

    def render(self) -> Content:
        return figures(self.facts, self.size.width)


class Work(Struct, frozen=True):
    """What is at work: since when, which tool (none while the model thinks), and how many messages wait."""

    since: float
    tool: str = ""
    queued: int = 0


class Activity(Widget):
    """A line that moves while something is at work."""

    DEFAULT_CSS = "Activity { height: 1; padding: 0 1; color: $hermes-dim; }"

    def __init__(self, skin: Skin, state: State, *, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self.skin, self.state = skin, state
        self.indicator = "skin"
        self._note = ""
        self._work: Work | None = None
        self._clock = clock

    def on_mount(self) -> None:
        self._timer = self.set_interval(FRAME, self.refresh, pause=True)

    def show(self, work: Work | None) -> None:
        """What is at work now; a word beside it goes when that has ended."""
        if work is None and self._work is not None:
            self._note = ""
        self._work = work
        if work is None:
            self._timer.pause()
        else:
            self._timer.resume()
        self.refresh()

    def indicate(self, kind: str) -> str:
        """Let something else move; without a word, say what does."""
        self.indicator = kind or self.indicator
        self.refresh()
        return f"indicator: {self.indicator}"

    def say(self, note: str) -> None:
        """A word beside what is at work."""
        self._note = note
        self.refresh()

    def render(self) -> Content:
        work = self._work
        if work is None or self.state == "hidden":
            return styled(self._note, "$text-warning")
        seconds = self._clock() - work.since
        spinner = self.skin.spinner
        own = FACES[self.indicator]
        faces = own or (spinner.waiting_faces if work.tool else spinner.thinking_faces)
        face = faces[int(seconds / FRAME) % len(faces)]
        if self.state == "folded":
            return styled(face, "$primary")
        verb = work.tool or spinner.thinking_verbs[int(seconds / 8) % len(spinner.thinking_verbs)]
        queued = f", {work.queued} queued" if work.queued else ""
        left, right = spinner.wings[int(seconds) % len(spinner.wings)] if spinner.wings and not own else ("", "")
        rest = styled(f" {verb} … {seconds:.0f} s{queued} (Esc interrupts)", "$hermes-dim")
        note = styled(f"  {self._note}", "$text-warning") if self._note else Content("")
        return cut(styled(f"{left}{face}{right}", "$primary") + rest + note, self.size.width)
