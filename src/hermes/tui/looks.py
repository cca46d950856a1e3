"""How the screen looks: its skin, and how much of each part of a conversation it shows."""

from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

from msgspec.structs import replace

from hermes.config import Display
from hermes.protocol.errors import UserError
from hermes.tui import skins
from hermes.tui.blocks import State, View
from hermes.tui.skins import Skin

Progress = Literal["off", "new", "all", "verbose"]
PROGRESS: tuple[Progress, ...] = get_args(Progress)
TOOLS: dict[Progress, State] = {"off": "hidden", "new": "folded", "all": "folded", "verbose": "open"}


class Looks:
    """The skin and the view that are in use; `changed` is called with every other one."""

    def __init__(self, display: Display, folder: Path, changed: Callable[["Looks"], None]) -> None:
        self.skin = skins.load(display.skin, folder)
        self.progress: Progress = display.tool_progress
        self.view = view_of(display, self.skin)
        self._folder = folder
        self._changed = changed

    def wear(self, name: str) -> str:
        """Use another skin; without a name, say which there are."""
        if not name:
            there = ", ".join(skins.names(self._folder))
            return f"Skin: {self.skin.name}. There is {there}."
        self.skin = skins.load(name, self._folder)
        self.view = signed(self.view, self.skin)
        self._changed(self)
        return f"Skin: {name}."

    def detail(self, part: str, state: str) -> str:
        """Show a part of conversations otherwise."""
        if part not in ("thoughts", "tools", "subagents", "activity") or state not in get_args(State):
            raise UserError(f"cannot show {part!r} as {state!r}", "/details tools open")
        self.view = replace(self.view, **{part: state})
        self._changed(self)
        return f"{part}: {state}"

    def switch(self, part: Literal["timestamps", "footer"], wanted: str) -> str:
        """Show times or what turns took, or do not; without a word, the other of the two."""
        shown = {"on": True, "off": False}.get(wanted, not getattr(self.view, part))
        self.view = replace(self.view, **{part: shown})
        self._changed(self)
        return f"{part}: {'on' if shown else 'off'}"

    def show_progress(self, mode: str) -> str:
        """Show more or less of tool calls: the mode named, or the one behind the mode in use."""
        following = PROGRESS[(PROGRESS.index(self.progress) + 1) % len(PROGRESS)]
        self.progress = dict[str, Progress](zip(PROGRESS, PROGRESS, strict=True)).get(mode, following)
        self.view = replace(self.view, tools=TOOLS[self.progress], only_new=self.progress == "new")
        self._changed(self)
        return f"tool calls: {self.progress}"


def view_of(display: Display, skin: Skin) -> View:
    """What the settings want to be shown."""
    details = display.details
    tools = details.tools if display.tool_progress == "all" else TOOLS[display.tool_progress]
    view = View(
        thoughts="open" if display.show_reasoning else details.thoughts,
        tools=tools,
        subagents=details.subagents,
        activity=details.activity,
        only_new=display.tool_progress == "new",
        compact=display.compact,
    )
    return signed(view, skin)


def signed(view: View, skin: Skin) -> View:
    """A view with the signs of a skin."""
    branding = skin.branding
    return replace(
        view,
        prompt=branding.prompt_symbol,
        sign=skin.tool_prefix,
        label=branding.response_label,
        signs=tuple(skin.tool_emojis.items()),
    )
