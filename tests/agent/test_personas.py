"""Personalities: found by name, the person's own first, and clear about what they do not change."""

import pytest
from msgspec import Struct

from hermes.agent import personas
from hermes.protocol.errors import UserError


class Own(Struct, frozen=True):
    system_prompt: str = ""
    tone: str = ""
    style: str = ""


def test_every_name_that_people_know_is_there_and_each_has_words_of_its_own():
    known = (
        "helpful concise technical creative teacher kawaii catgirl pirate shakespeare surfer noir uwu philosopher hype"
    )
    assert personas.names({}) == tuple(known.split())
    texts = [personas.find(name, {}) for name in personas.names({})]
    assert len(set(texts)) == 14
    assert all("manner of speaking only" in text for text in texts)


@pytest.mark.parametrize("name", ["", "none", "Default", " neutral "])
def test_none_default_and_neutral_clear_it(name):
    assert personas.find(name, {}) == ""


def test_a_personality_of_the_settings_is_text_or_parts_and_beats_a_built_in_one():
    own = {
        "Butler": Own("You are a butler.", "dry", "short"),
        "pirate": "Be a polite pirate.",
        "bare": Own(tone="warm"),
    }
    assert personas.find("butler", own).splitlines()[1:4] == ["You are a butler.", "Tone: dry", "Style: short"]
    assert personas.find("pirate", own).splitlines()[1] == "Be a polite pirate."
    assert personas.find("BARE", own).splitlines()[1] == "Tone: warm"
    assert personas.names(own)[-2:] == ("Butler", "bare")


@pytest.mark.parametrize(("name", "hint"), [("pirat", "did you mean pirate?"), ("zzz", "there is helpful, concise")])
def test_an_unknown_one_is_one_line_with_the_nearest_name(name, hint):
    with pytest.raises(UserError) as error:
        personas.find(name, {})
    assert str(error.value) == f"there is no personality {name!r}"
    assert error.value.hint.startswith(hint)


def test_braces_in_a_personality_of_the_settings_stay_as_they_are():
    assert "{name}" in personas.find("x", {"x": "Say {name}."})
