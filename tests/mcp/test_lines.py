"""Lines come out as they went in, however they were cut on the way, and none grows beyond its cap."""

from hypothesis import given
from hypothesis import strategies as st

from hermes.mcp.lines import EDGE, Lines, Overlong


@given(st.lists(st.binary(max_size=12).filter(lambda line: b"\n" not in line)), st.data())
def test_any_cutting_gives_the_same_lines(lines: list[bytes], data: st.DataObject):
    text = b"".join(line + b"\n" for line in lines) + b"rest"
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)))))
    blocks = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    cutter = Lines(12)
    assert [line for block in blocks for line in cutter.feed(block)] == lines
    assert (cutter.rest(), cutter.rest()) == (b"rest", b"")


@given(st.integers(1001, 3000), st.integers(1, 999))
def test_a_line_over_the_cap_leaves_its_ends_and_the_next_is_whole(length: int, size: int):
    line = (bytes(range(32, 250)) * 20)[:length]
    cutter = Lines(1000)
    blocks = [line[start : start + size] for start in range(0, len(line), size)]
    found = [out for block in [*blocks, b"\nnext\n"] for out in cutter.feed(block)]
    assert found == [Overlong(line[:EDGE], line[-EDGE:], len(line)), b"next"]


def test_a_line_of_exactly_the_cap_is_kept():
    assert list(Lines(3).feed(b"abc\nabcd\n")) == [b"abc", Overlong(b"abcd", b"abcd", 4)]
