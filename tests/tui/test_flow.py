"""A paragraph without an end: cut where nobody sees it, and no more work however long it has become."""

import sys
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from textual.content import Content

from hermes.tui.blocks import Answer, Growing, Thinking, View
from hermes.tui.flow import PIECE, PORTION, PORTION_LINES, FlowingText, next_cut, next_portion
from hermes.tui.markdown import Markdown
from hermes.tui.page import Page
from hermes.tui.wrapping import wrap

WORDS = "Some **bold words** and `code` with snake_case, 2 * 3 and [a link](http://a.b/c), then plain ones again. "
LOG = "a line of a log that has no empty lines\n"
CODE = "```python\n" + "x = [1, 2]  # a list\n" * 400
UNBROKEN = "abc123XYZ"
LIST = "1. An item of a list, with `code`,\n\n   in two paragraphs.\n1. Another one.\n"
TABLE = "| name | value of it |\n|---|--:|\n" + "".join(f"| row {n} | {n**3} |\n" for n in range(300))
QUOTE = "> Words of somebody else.\n>\n> - and what they listed\n"
JSON = "```json\n" + '{"name": "value"}, ' * 2_000 + "\n```\n\nend"


def plain(lines: list[Content]) -> list[str]:
    return [line.plain for line in lines]


def test_a_short_text_is_one_piece():
    assert next_cut("word " * (PIECE // 5 - 1)) == 0


def test_a_piece_ends_between_two_words():
    text = "word " * PIECE
    cut = next_cut(text)
    assert PIECE <= cut <= PIECE + 5 and text[cut - 1 : cut + 2] == "d w"


def test_a_piece_does_not_end_in_bold_text_if_that_ends_soon():
    text = "a " * 400 + "**" + "b " * 250 + "b** " + "c " * 2_000
    cut = next_cut(text)
    assert text[:cut].count("**") == 2 and cut < 2 * PIECE


@pytest.mark.parametrize("text", ["[a " * 2_000, UNBROKEN * 1_000, "*" * 5_000, " \n" * 3_000 + "a"])
def test_a_piece_ends_in_any_case(text):
    assert 2 * PIECE <= next_cut(text) <= 3 * PIECE


@settings(max_examples=40, deadline=None)
@given(st.text("ab*_` [\n\\", max_size=40), st.integers(1, 60))
def test_where_a_piece_ends_depends_only_on_what_stands_before(some, more):
    text = (some or "a") * (4 * PIECE // max(1, len(some)))
    cut = next_cut(text)
    assert next_cut(text + "b" * more) == cut
    assert next_cut(text[: cut + more]) in (0, cut)


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(
        [
            *(WORDS * 60, LOG * 150, CODE, JSON, UNBROKEN * 700, LIST * 80, TABLE, QUOTE * 100),
            WORDS * 40 + "\n\n- end\n- of list\n\n" + CODE,
            LIST * 40 + "\n" + TABLE + "\n# Next\n\n" + LIST * 40 + "* other\n" + TABLE,
        ]
    ),
    st.lists(st.integers(1, 3_000), min_size=1, max_size=6),
    st.sampled_from([24, 80]),
)
def test_a_long_text_that_grows_looks_like_one_that_came_at_once(text, steps, width):
    growing, at = Markdown(), 0
    for step in steps:
        at += step
        growing.text = text[:at]
        assert growing.lines(width) == Markdown(text[:at]).lines(width)


@pytest.mark.parametrize("text", [WORDS.replace("**", "") * 60, LOG * 150, UNBROKEN * 700, "漢字かな " * 900])
@pytest.mark.parametrize("width", [24, 80])
def test_the_pieces_of_a_text_make_the_same_lines_as_the_whole(text, width):
    before = Content("│ ")
    text = text.strip()
    assert plain(FlowingText("", before).lines(text, width)) == plain(wrap(Content(text), width, before, before))


def test_a_paragraph_that_ends_after_many_pieces_is_followed_by_the_next_block():
    drawn = plain(Markdown("word " * 2_000 + "\n\n# Next\n\nlast").lines(40))
    assert drawn[-5:] == [" ".join(["word"] * 8), "", "Next", "", "last"]


def test_what_becomes_a_heading_or_a_table_when_pieces_of_it_are_drawn_stays_a_paragraph():
    heading, table = Markdown("word " * 400), Markdown("word " * 400)
    before = heading.lines(40), table.lines(40)
    heading.text += "end\n==="
    table.text += "| b\n|---|---|\n| 1 | 2 |"
    assert plain(heading.lines(40)) == [*plain(before[0]), "end"]
    assert plain(table.lines(40)) == [*plain(before[1]), "| b | 1 | 2"]


def test_a_very_long_line_of_code_fills_the_lines_of_the_screen():
    lines = [line.plain.strip() for line in Markdown("```\n" + UNBROKEN * 500 + "\nend\n```").lines(50)]
    assert {len(line) for line in lines[:-2]} == {48}
    assert "".join(lines) == UNBROKEN * 500 + "end"


def test_a_text_that_turns_out_to_be_another_one_is_drawn_anew():
    markdown = Markdown("word " * 2_000 + " … ")
    markdown.lines(40)
    markdown.text = "other " * 2_000
    assert markdown.lines(40) == Markdown("other " * 2_000).lines(40)


def test_a_long_list_is_counted_through():
    drawn = plain(Markdown("7. word\n" + "1. word\n" * 400).lines(40))
    assert drawn == [f"{number}. word" for number in range(7, 408)]


def test_a_long_table_has_one_head_and_columns_that_only_become_wider():
    drawn = plain(Markdown(TABLE).lines(60))
    assert [line.split("│")[0].strip() for line in drawn if "│" in line] == ["name", *(f"row {n}" for n in range(300))]
    widths = [len(line) for line in drawn]
    assert len(drawn) == 302 and widths == sorted(widths)


@pytest.mark.parametrize(
    "text", ["- " + "word " * 10_000, "# " + "word " * 10_000, "> word\n" * 8_000, "- " + UNBROKEN * 6_000]
)
def test_what_never_ends_is_cut_and_no_word_of_it_is_lost(text: str):
    drawn = "".join(plain(Markdown(text).lines(80)))
    for kept in ("word", UNBROKEN[:3]):
        assert drawn.replace(" ", "").count(kept) == text.count(kept)


@settings(max_examples=60, deadline=None)
@given(st.text("ab\n", max_size=300).map(lambda text: text * 40))
def test_the_portions_of_a_text_make_the_whole_of_it(text):
    at = 0
    while at < len(text):
        end = next_portion(text, at)
        portion = text[at:end]
        assert 0 < len(portion) <= PORTION and portion.count("\n") <= PORTION_LINES
        assert end == len(text) or portion.endswith("\n") or "\n" not in text[at : at + PORTION]
        at = end


def calls_of(work: Callable[[], object]) -> int:
    """How many functions are called, those of Python and those in C."""
    count = 0

    def seen(frame, event, argument):
        nonlocal count
        count += event in ("call", "c_call")

    sys.setprofile(seen)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


class OpenThought(Thinking):
    """A thought that the person has opened."""

    def __init__(self) -> None:
        super().__init__()
        self.state = "open"


@pytest.mark.parametrize("kind", [Answer, Thinking, OpenThought])
@pytest.mark.parametrize(
    "text",
    [
        *(WORDS, LOG, UNBROKEN, "x = 'some words in a row'\n", "x = 'some words in a row and many others more'; "),
        *("- an item of a list\n", "| a row | of a table |\n"),
    ],
)
def test_a_delta_is_no_more_work_at_the_end_of_a_long_text_than_near_its_beginning(kind: type[Growing], text: str):
    page, block = Page(), kind()
    page.add(block)
    page.lay_out(100, View())
    block.grow({"x": "```python\n", "|": "| a | b |\n|---|---|\n"}.get(text[0], ""), 0)

    def delta(length: int) -> None:
        block.grow((text * (length // len(text) + 1))[:length], block.length)
        page.touch(block)
        while page.behind:
            page.update()

    def dearest() -> int:
        """Of the deltas of some pieces: each piece that is finished takes a little more."""
        return max(calls_of(lambda: delta(200)) for _ in range(4 * PIECE // 200))

    delta(4 * PIECE)
    near = dearest()
    delta(60_000)
    assert dearest() < 2 * near, "of a text fifteen times as long"


@pytest.mark.parametrize("kind", [Answer, OpenThought])
@pytest.mark.parametrize("text", [WORDS, "on and on\n\n", "- an item\n", UNBROKEN])
def test_a_drawing_is_no_more_work_after_a_flood_than_after_a_burst(kind: type[Growing], text: str):
    def drawing(length: int) -> tuple[Page, int]:
        """A page on which so much has come since it was last drawn, and how much work the next drawing is."""
        page, block = Page(), kind()
        page.add(block)
        page.lay_out(100, View())
        block.grow(text[:5], 0)
        page.update()
        for at in range(5, length, 5):
            block.grow((text[at % len(text) :] + text)[:5], at)
        page.touch(block)
        return page, calls_of(page.update)

    (_, burst), (page, flood) = drawing(2 * PORTION), drawing(10 * PORTION)
    assert page.behind and flood < 2 * burst, "of five times as much"
    assert "characters more" in page.text()
    while page.behind:
        page.update()
    assert "characters more" not in page.text()
    whole = kind()
    whole.finish((text * 10 * PORTION)[: 10 * PORTION])
    shown = Page()
    shown.add(whole)
    shown.lay_out(100, View())
    while shown.behind:
        shown.update()
    assert page.text() == shown.text()
