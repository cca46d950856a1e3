"""A page lays out the newest blocks only, and older ones when they are wanted."""

from hermes.protocol.items import Text, UserMessage
from hermes.tui.blocks import Answer, Said, Told, View
from hermes.tui.page import WINDOW, Page


def said(number: int) -> Said:
    return Said(UserMessage(id=f"i{number}", turn=number, step=0, index=0, parts=(Text(f"message {number}"),)))


def page_of(count: int) -> Page:
    page = Page()
    for number in range(count):
        page.add(said(number))
    page.lay_out(40, View())
    page.update()
    return page


def test_blocks_stand_apart_and_notes_close_together():
    page = Page()
    page.add(said(1))
    page.add(Told("· one"))
    page.add(Told("· two"))
    page.lay_out(40, View())
    page.update()
    assert page.text() == "› message 1\n\n· one\n· two"
    assert page.height == 4


def test_a_compact_page_has_no_empty_lines():
    page = Page()
    page.add(said(1))
    page.add(said(2))
    page.lay_out(40, View(compact=True))
    page.update()
    assert page.text() == "› message 1\n› message 2"


def test_only_the_newest_blocks_are_laid_out_until_older_ones_are_wanted():
    page = page_of(3 * WINDOW)
    first = f"message {2 * WINDOW}"
    assert page.text().startswith(f"› {first}\n") and not page.complete
    lines = page.load_older()
    assert page.text().startswith(f"› message {WINDOW}\n")
    line = page.line(lines)
    assert line is not None and line.plain == f"› {first}"
    page.load_older()
    assert page.complete and page.text().startswith("› message 0\n")


def test_old_blocks_give_way_while_new_ones_come():
    page = page_of(1)
    for number in range(1, 10 * WINDOW):
        page.add(said(number))
        page.update()
        assert page.height <= 4 * WINDOW
    assert page.text().endswith(f"› message {10 * WINDOW - 1}")


def test_nothing_gives_way_while_somebody_reads_it():
    page = page_of(1)
    for number in range(1, 5 * WINDOW):
        page.add(said(number))
        page.update(trim=False)
    assert page.text().startswith("› message 0\n")


def test_only_the_lines_that_are_different_are_told():
    page = Page()
    page.add(said(1))
    answer = page.add(Answer())
    answer.grow("# Title\n\none", 0)
    page.lay_out(40, View())
    assert page.update() == 0
    answer.grow(" two", answer.length)
    page.touch(answer)
    assert (page.update(), page.text()) == (4, "› message 1\n\nTitle\n\none two")
    page.add(Told("told"))
    assert page.update() == 5
    assert page.update() == page.height == 7


def test_a_block_that_changes_moves_those_below_it():
    page = Page()
    first, second = page.add(Told("one")), page.add(Told("two"))
    page.lay_out(40, View())
    page.update()
    first._text = "one\nand more"
    page.touch(first)
    page.update()
    assert page.text() == "one\n  and more\ntwo"
    assert page.block_at(2) is second and page.block_at(3) is None
    assert page.place_of(second) == (2, 3)
