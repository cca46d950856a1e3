"""Skins: those that come with Hermes, and a person's own."""

import pytest

from hermes.protocol.errors import UserError
from hermes.tui import skins
from tests.services.script import Reply
from tests.tui.rig import person

BUILT_IN = ["default", "ares", "mono", "slate", "daylight", "warm-lightmode", "poseidon", "sisyphus", "charizard"]


def test_the_built_in_skins_are_there_and_all_can_be_worn(tmp_path):
    assert skins.names(tmp_path) == BUILT_IN
    dark = {name: skins.theme(skins.load(name, tmp_path)).dark for name in BUILT_IN}
    assert [name for name, is_dark in dark.items() if not is_dark] == ["daylight", "warm-lightmode"]


def test_what_a_skin_leaves_out_is_as_in_the_default(tmp_path):
    (tmp_path / "mine.yaml").write_text("colors: {prompt: '#123456', ui_ok:}\nbranding: {prompt_symbol: '$'}\n")
    default, mine = skins.load("default", tmp_path), skins.load("mine", tmp_path)
    assert (mine.colors.prompt, mine.branding.prompt_symbol) == ("#123456", "$")
    assert (mine.colors.ui_ok, mine.branding.agent_name) == (default.colors.ui_ok, "Hermes")
    assert mine.spinner == default.spinner
    assert skins.names(tmp_path) == [*BUILT_IN, "mine"]


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("colors: {prompt: nocolour}", "colors.prompt: 'nocolour' is no colour"),
        ("spinner: {thinking_faces: 3}", "Expected `array`"),
        ("colors: [", "line 1"),
        ("- a", "must hold settings"),
    ],
)
def test_a_skin_that_is_wrong_says_where(tmp_path, text, told):
    (tmp_path / "mine.yaml").write_text(text)
    with pytest.raises(UserError, match=r"mine\.yaml") as raised:
        skins.load("mine", tmp_path)
    assert told in str(raised.value)


def test_a_skin_that_is_not_there_names_the_nearest(tmp_path):
    with pytest.raises(UserError) as raised:
        skins.load("posidon", tmp_path)
    assert (str(raised.value), raised.value.hint) == ("there is no skin 'posidon'", "did you mean poseidon?")


async def test_another_skin_changes_colours_and_signs_at_once(tmp_path):
    async with person(tmp_path, [Reply("hello")]) as one:
        await one.says("hi", "› hi", "☤ Hermes")
        await one.types("/skin poseidon")
        await one.sees("Skin: poseidon.", "Ψ hi", "Ψ Hermes")
        assert one.screen.theme == "hermes-poseidon"
        await one.types("/skin")
        await one.sees("There is default, ares, mono")
        await one.types("/skin nothing-like-it")
        await one.sees("there is no skin 'nothing-like-it'")


async def test_the_settings_choose_the_skin(tmp_path):
    async with person(tmp_path, settings="display: {skin: daylight, compact: true}\n") as one:
        assert one.screen.theme == "hermes-daylight"
        await one.sees("☤ Hermes 0.1.0 · custom:echo · ~/work")
