import pytest

from hermes.tools.indentation import dedented, fitted


@pytest.mark.parametrize(
    ("quoted", "real", "line", "result"),
    [
        ("a", "    a", "b", "    b"),
        ("a", "    a", "  b", "      b"),
        ("    a", "a", "        b", "    b"),
        ("        a", "    a", "    b", "b"),
        ("    a", "\ta", "        b", "\t\tb"),
        ("a", "\ta", "    b", "\t\tb"),
        ("        a", "\t\ta", "    b", "\tb"),
        ("  a", "  a", "      b", "      b"),
        ("a", "a\r", "b", "b\r"),
        ("a", "    a", "", ""),
    ],
)
def test_a_new_line_is_made_like_its_neighbours(quoted, real, line, result):
    assert fitted(line, 0, [(quoted, real)]) == result


def test_tabs_are_counted_by_the_difference_of_two_lines():
    pairs = [("if a:", "\tif a:"), ("  b()", "\t\tb()")]
    assert fitted("    c()", 1, pairs) == "\t\t\tc()"


def test_of_two_neighbours_that_disagree_the_nearer_counts():
    pairs = [("if a:", "if a:"), ("b()", "    b()")]
    assert [fitted("c()", near, pairs) for near in (0, 1)] == ["c()", "    c()"]


def test_blank_lines_do_not_hide_the_shared_indentation():
    assert dedented(["    a", "", "      b  "]) == ["a", "", "  b"]
