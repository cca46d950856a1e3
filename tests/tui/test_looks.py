"""How much is shown, by the settings and by commands."""

import pytest

from hermes.config import Details, Display
from hermes.protocol.errors import UserError
from hermes.tui import skins
from hermes.tui.blocks import View
from hermes.tui.looks import Looks, view_of


def shown(display: Display, tmp_path) -> tuple[str, str, bool]:
    view = view_of(display, skins.load("default", tmp_path))
    return view.thoughts, view.tools, view.only_new


@pytest.mark.parametrize(
    ("display", "wanted"),
    [
        (Display(), ("folded", "folded", False)),
        (Display(show_reasoning=True), ("open", "folded", False)),
        (Display(tool_progress="off"), ("folded", "hidden", False)),
        (Display(tool_progress="new"), ("folded", "folded", True)),
        (Display(tool_progress="verbose"), ("folded", "open", False)),
        (Display(details=Details(thoughts="hidden", tools="open")), ("hidden", "open", False)),
    ],
)
def test_the_settings_say_what_is_shown(display, wanted, tmp_path):
    assert shown(display, tmp_path) == wanted


def test_progress_goes_round_and_every_change_is_told(tmp_path):
    seen: list[View] = []
    looks = Looks(Display(), tmp_path, lambda looks: seen.append(looks.view))
    told = [looks.show_progress("") for _ in range(4)]
    assert told == ["tool calls: verbose", "tool calls: off", "tool calls: new", "tool calls: all"]
    assert [(view.tools, view.only_new) for view in seen] == [
        ("open", False),
        ("hidden", False),
        ("folded", True),
        ("folded", False),
    ]
    assert looks.show_progress("off") == "tool calls: off"


def test_a_part_or_a_state_that_is_none_is_refused(tmp_path):
    looks = Looks(Display(), tmp_path, lambda looks: None)
    assert looks.detail("activity", "hidden") == "activity: hidden"
    assert looks.view.activity == "hidden"
    for part, state in (("colours", "open"), ("tools", "loud")):
        with pytest.raises(UserError):
            looks.detail(part, state)
