"""A character that a server cut in half between two events arrives whole."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.models import dialects
from hermes.models.halves import Halves
from hermes.protocol.models import Grew


def chunk(text: str) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": {"content": text}}]}).encode() + b"\n\n"


def read(pieces: list[str]) -> str:
    decoder = dialects.load("chat").decoder()
    deltas = [delta for piece in pieces for delta in decoder.feed(chunk(piece))]
    deltas += decoder.feed(b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}\n\n')
    deltas += decoder.close()
    return "".join(delta.text for delta in deltas if isinstance(delta, Grew))


@given(st.text(st.sampled_from("a😀\\ué🎉\ud7ff"), min_size=1), st.integers(1, 4))
def test_text_that_is_cut_by_utf_16_units_comes_back_the_same(words: str, size: int):
    units = words.encode("utf-16-be", "surrogatepass")
    pieces = [units[n : n + 2 * size].decode("utf-16-be", "surrogatepass") for n in range(0, len(units), 2 * size)]
    assert read(pieces) == words


@pytest.mark.parametrize(("pieces", "told"), [(["a\ude00b"], "a\ufffdb"), (["a\ud83d", "b"], "ab"), (["\ud83dx"], "x")])
def test_a_half_that_stays_alone_spoils_nothing_else(pieces: list[str], told: str):
    assert read(pieces) == told


def test_a_backslash_before_a_u_is_only_text():
    assert Halves().mend(rb'{"a":"\\ud83d"}') == rb'{"a":"\\ud83d"}'
