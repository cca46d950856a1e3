"""Server-sent events: the rules of the HTML standard, and any cut of the bytes."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hermes.models import sse
from hermes.models.sse import Event, Parser
from hermes.protocol.errors import Disconnected


def parse(*chunks: bytes) -> list[Event]:
    parser = Parser()
    events = [event for chunk in chunks for event in parser.feed(chunk)]
    return events + parser.close()


def test_each_line_ending_ends_a_line():
    for end in (b"\n", b"\r", b"\r\n"):
        stream = end.join([b"event: greeting", b"data: hello", b"", b"data: world", b"", b""])
        assert parse(stream) == [Event("greeting", b"hello"), Event("", b"world")]


def test_data_of_several_lines_is_joined_by_newlines():
    assert parse(b"data: one\ndata:\ndata: three\n\n") == [Event("", b"one\n\nthree")]


def test_comments_other_fields_and_events_without_data_are_passed_over():
    stream = b": PROCESSING\n\nid: 7\nretry: 10\nevent: empty\n\nnonsense\ndata: x\n\n"
    assert parse(stream) == [Event("", b"x")]


def test_only_one_space_behind_the_colon_is_dropped():
    assert parse(b"data:  two\n\ndata:none\n\n") == [Event("", b" two"), Event("", b"none")]


def test_a_byte_order_mark_is_dropped_at_the_start_only():
    mark = "\ufeff".encode()
    assert parse(mark + b"data: a\n\n" + mark + b"data: b\n\n") == [Event("", b"a")]


def test_a_name_holds_for_one_event():
    assert parse(b"event: a\ndata: 1\n\ndata: 2\n\n") == [Event("a", b"1"), Event("", b"2")]


def test_the_last_event_needs_no_blank_line():
    assert parse(b"data: a\n\ndata: b") == [Event("", b"a"), Event("", b"b")]


def test_events_come_out_as_soon_as_they_are_whole():
    parser = Parser()
    assert parser.feed(b"data: a\n") == []
    assert parser.feed(b"\ndata: b") == [Event("", b"a")]
    assert parser.feed(b"") == []
    assert parser.close() == [Event("", b"b")]


def test_an_endless_event_is_given_up(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sse, "LONGEST_EVENT", 1000)
    parser = Parser()
    parser.feed(b"data: " + b"x" * 900)
    with pytest.raises(Disconnected):
        parser.feed(b"x" * 200)


names = st.text(st.characters(codec="utf-8", exclude_characters="\r\n"), max_size=8).filter(
    lambda name: not name.startswith(" ")
)
lines = st.binary(max_size=12).filter(lambda line: b"\n" not in line and b"\r" not in line)
events = st.lists(st.tuples(names, st.lists(lines, min_size=1, max_size=3)), max_size=4)
noise = st.sampled_from([b"", b": comment", b"id: 1", b"unknown", b"retry: x: y"])


def cut(data: bytes, places: list[int]) -> list[bytes]:
    edges = [0, *sorted(place % (len(data) + 1) for place in places), len(data)]
    return [data[start:end] for start, end in pairwise(edges)]


@given(events, st.data(), st.sampled_from([b"\n", b"\r", b"\r\n"]), st.lists(st.integers(0, 10**6), max_size=6))
def test_what_is_written_is_read_however_it_is_cut(
    told: list[tuple[str, list[bytes]]], data: st.DataObject, end: bytes, places: list[int]
):
    written: list[bytes] = []
    for name, parts in told:
        extra = data.draw(noise)
        written += [line for line in [extra] if line]
        written += [b"event: " + name.encode(), *(b"data: " + part for part in parts), b""]
    stream = b"".join(line + end for line in written)
    assert parse(*cut(stream, places)) == [Event(name, b"\n".join(parts)) for name, parts in told]


@given(st.binary(max_size=60), st.lists(st.integers(0, 10**6), max_size=5))
def test_any_bytes_give_the_same_events_however_they_are_cut(stream: bytes, places: list[int]):
    assert parse(*cut(stream, places)) == parse(stream)


@given(
    st.lists(st.sampled_from([b"\r", b"\n", b"data", b":", b" ", b"x", b"event", b"\xef\xbb\xbf"]), max_size=14),
    st.lists(st.integers(0, 100), max_size=5),
)
def test_line_ends_may_be_cut_anywhere(pieces: list[bytes], places: list[int]):
    stream = b"".join(pieces)
    assert parse(*cut(stream, places)) == parse(stream)
