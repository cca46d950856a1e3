import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from hermes.protocol.errors import ToolError
from hermes.tools.replacing import Replaced, merged, numbered, replace


@settings(deadline=None)
@given(st.data(), st.text(alphabet="abc \t\n"), st.text(alphabet="abc \t\n", max_size=5))
def test_a_unique_quote_is_replaced_and_nothing_else(data, text, new):
    assume(text)
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    old = text[start:end]
    assume(sum(text.startswith(old, at) for at in range(len(text))) == 1 and old != new)
    assert replace(text, old, new) == Replaced(text[:start] + new + text[end:], 1, "exact")


@settings(deadline=None)
@given(st.lists(st.text(alphabet="abc", min_size=1, max_size=3), min_size=2, unique=True), st.data())
def test_a_quote_at_the_wrong_depth_changes_only_its_lines(words, data):
    depth = data.draw(st.sampled_from(["  ", "    ", "\t"]))
    start = data.draw(st.integers(0, len(words) - 2))
    end = data.draw(st.integers(start + 2, len(words)))
    text = "".join(f"{depth}{word}  \n" for word in words)
    old = "\n".join(words[start:end])
    new = "\n".join([*words[start : end - 1], "NEW", words[end - 1]])
    lines = [f"{depth}{word}  " for word in words]
    lines.insert(end - 1, f"{depth}NEW")
    assert replace(text, old, new).text == "".join(f"{line}\n" for line in lines)


def test_lines_that_the_edit_leaves_alone_stay_as_the_file_has_them():
    text = "\tif a:   \n\t\tsay(“hi”)\n\t\tb()\n"
    done = replace(text, 'if a:\n    say("hi")\n    b()', 'if a:\n    say("hi")\n    if c:\n        d()')
    assert done.text == "\tif a:   \n\t\tsay(“hi”)\n\t\tif c:\n\t\t\td()\n"


def test_a_last_line_without_newline_gets_none():
    assert replace("a\n  b", "b  \n", "c\n") == Replaced("a\n  c", 1, "at another indentation")


def test_a_line_can_be_deleted_by_a_loose_quote():
    assert replace("a\n  b  \nc\n", "b\nc\n", "c\n").text == "a\nc\n"


def test_mixed_line_endings_are_kept():
    assert replace("a\r\nb\r\nc\n", "a\nb\n", "a\nx\n").text == "a\r\nx\r\nc\n"


def test_a_twice_escaped_edit_is_unescaped_on_both_sides():
    assert replace("a\n\tb\n", "a\\n\\tb", "a\\n\\tc").text == "a\n\tc\n"


def test_a_quote_that_fits_twice_is_refused_with_the_lines():
    with pytest.raises(ToolError, match=r"fits 2 places \(lines 1, 3\); quote more"):
        replace("a = 1\nb = 2\na = 1\n", "a = 1", "a = 3")
    with pytest.raises(ToolError, match=r"fits 2 places \(lines 1, 2\)"):
        replace("a\na\na\n", "a\na", "b")


def test_all_places_are_replaced_on_demand():
    assert replace("  a\n\ta\n", "a  ", "b", every=True) == Replaced("  b\n\tb\n", 2, "at another indentation")
    assert replace("aaa", "aa", "b", every=True) == Replaced("ba", 1, "exact")


def test_a_guess_is_never_made_twice():
    block = "begin\n  one = 1\n  two = 2\n  three = 3\nend\n"
    with pytest.raises(ToolError, match="fits 2 places"):
        replace(block + block, "begin\none = 1\ntwo = 9\nthree = 3\nend", "x", every=True)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("", "x", "old_string is empty"),
        ("x", "x", "are the same"),
        ("1|alpha\n2|beta", "x", "leave out the line numbers"),
        ("something gone", "alpha and its friend beta", "already stands at line 1"),
        ("alpha and his friends beta", "x", "The closest lines are:\n1|alpha and its friend beta\n"),
        ("zzzzzz", "x", "nor anything like it"),
    ],
)
def test_what_cannot_be_replaced_says_what_to_do(old, new, says):
    with pytest.raises(ToolError) as error:
        replace("alpha and its friend beta\ngamma\n", old, new)
    assert says in str(error.value)


def test_a_block_of_another_length_is_replaced_whole():
    assert merged("    a\n    x\n    b", "a\nb", "a\nc\nb") == "    a\n    c\n    b"


def test_numbers_of_read_file_are_recognised():
    assert numbered("7|a\n8|b\n") and numbered("1|")
    assert not numbered("7|a\n9|b") and not numbered("1|a\nb") and not numbered("")
