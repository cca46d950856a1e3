"""A text without its disguises; what most commands are is told without a pattern, and that look must change nothing."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.safety.commands.syntax import (
    LONGEST,
    MOST_OPERATORS,
    UNKNOWN,
    deceives,
    is_readable,
    normalise,
    without_marks,
)

SEEN = "".join(map(chr, range(0x20, 0x7F)))


@given(st.text(SEEN))
def test_a_line_that_can_be_seen_is_what_it_looks_like(text: str) -> None:
    assert (normalise(text), without_marks(text), deceives(text)) == (text, text, False)


@pytest.mark.parametrize("char", [*map(chr, range(0x20)), "\x7f", "\u200b", "\u202e", "\ufeff", "\ud800"])
def test_what_nobody_sees_is_taken_out_but_for_the_ends_of_lines_and_tabs(char: str) -> None:
    assert normalise(f"rm{char} x") == ("rm x" if char not in "\t\n" else f"rm{char} x")


@given(st.text())
def test_look_alikes_become_plain_letters(text: str) -> None:
    assert unicodedata.is_normalized("NFKC", normalise(text))


def test_a_key_that_changes_the_line_deceives() -> None:
    assert deceives("echo x\x08\x08") and deceives("echo \u202ex") and deceives(f"echo {UNKNOWN}")
    assert without_marks(f"echo {UNKNOWN}x") == "echo x"


def test_a_long_text_is_readable_as_long_as_it_is_simple() -> None:
    assert is_readable("x" * LONGEST) and not is_readable("x" * (LONGEST + 1))
    assert is_readable(";" * MOST_OPERATORS) and not is_readable(";" * (MOST_OPERATORS + 1))
    assert not is_readable("x;" * (MOST_OPERATORS + 1))
