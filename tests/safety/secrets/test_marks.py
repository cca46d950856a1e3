"""The look for many words at once finds what a search for each of them finds."""

from hypothesis import given
from hypothesis import strategies as st

from hermes.safety.secrets.marks import Marks

LETTERS = "ab=_ K7ñ密[\n"


@given(st.lists(st.text(LETTERS, min_size=1, max_size=4)), st.text(LETTERS, max_size=40))
def test_exactly_the_words_in_a_text_are_found_and_each_once(marks: list[str], text: str) -> None:
    assert sorted(Marks(marks).found(text)) == sorted({mark for mark in marks if mark in text})
