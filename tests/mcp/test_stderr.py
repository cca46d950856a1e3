"""A server's error output is logged line by line, its end is kept, and a flood of it is only counted."""

import pytest

from hermes.mcp.stderr import LINE, LINES_A_SECOND, RING, ErrorOutput


@pytest.fixture
def logged() -> list[str]:
    return []


@pytest.fixture
def output(logged: list[str]) -> ErrorOutput:
    return ErrorOutput(logged.append)


def test_each_line_is_logged_once_it_is_whole(output, logged):
    for block in (b"first\r\nsec", b"ond: \xc3", b"\xbc\n\n", b"last"):
        output.feed(block)
    assert logged == ["first", "second: ü"]
    output.close()
    assert logged == ["first", "second: ü", "last"]
    assert output.tail() == "first\r\nsecond: ü\n\nlast"


def test_the_kept_end_begins_with_a_whole_character(output):
    output.feed("ü".encode() * RING + b"!")
    assert output.tail() == "ü" * (RING // 2 - 1) + "!"


def test_a_line_without_end_takes_no_memory_and_is_logged_by_its_beginning(output, logged):
    for _ in range(10):
        output.feed(b"x" * LINE)
    output.feed(b"\nnext\n")
    assert logged == [f"{'x' * 256}... ({10 * LINE} bytes)", "next"]


def test_of_a_flood_the_first_lines_are_logged_and_the_rest_is_counted(output, logged):
    for _ in range(5):
        output.feed(b"noise\n" * LINES_A_SECOND)
    output.note("a note counts among them")
    output.feed(b"the end")
    output.close()
    assert logged == ["noise"] * LINES_A_SECOND + [f"({4 * LINES_A_SECOND + 1} more lines left out)", "the end"]


def test_after_a_quiet_second_lines_are_logged_again(output, logged, monkeypatch):
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    output.feed(b"noise\n" * (LINES_A_SECOND + 3))
    now += 1
    output.feed(b"calm\n")
    assert logged == ["noise"] * LINES_A_SECOND + ["(3 more lines left out)", "calm"]
