"""Keys are found between any blanks and signs; only long words are looked at, and no key is a short one."""

import sys

import pytest

from hermes.safety.secrets.shapes import PREFIXES, find_keys
from hermes.safety.secrets.wrapped import WRAPPED

KEY = "gh" + "p_16C7e42F292c6912E7710c838347Ae178B4a"
BLANKS = [chr(code) for code in range(sys.maxunicode + 1) if chr(code).isspace()]


@pytest.mark.parametrize("blank", BLANKS)
def test_a_key_is_found_between_blanks_of_any_kind(blank: str) -> None:
    text = f"a short text{blank}{KEY}{blank}and {KEY[:12]}{blank * 3}{KEY}"
    assert [text[start:end] for start, end in find_keys(text)] == [KEY, KEY]


@pytest.mark.parametrize("sign", list("\"'<>(){}#&*?@^`"))
def test_a_key_is_found_behind_a_sign_in_the_same_word(sign: str) -> None:
    text = f"{'x' * 20}{sign}{KEY}{sign}{KEY}"
    assert [text[start:end] for start, end in find_keys(text)] == [KEY, KEY]


def test_a_text_of_short_words_holds_no_key() -> None:
    assert list(find_keys("sk- ghp_ " * 100)) == []


def test_each_prefix_stands_once() -> None:
    prefixes = [prefix for prefix, _ in PREFIXES + WRAPPED]
    assert sorted(prefixes) == sorted(set(prefixes))
