import pytest

from hermes.tools.syntax import problem_after


@pytest.mark.parametrize(
    ("path", "good", "bad", "says"),
    [
        ("a.py", "x = 1\n", "x = 1\ny = (\n", "[syntax error in a.py line 2: '(' was never closed]"),
        ("a.py", "x = 1\n", "return 1\n", "[syntax error in a.py line 1: 'return' outside function]"),
        ("a.json", "{}", '{\n"a" 1}', "[syntax error in a.json line 2: Expecting ':' delimiter]"),
        ("a.toml", "a = 1\n", "a = 1\nb =\n", "[syntax error in a.toml line 2: Invalid value]"),
        (
            "a.yml",
            "a: 1\n",
            "a: [1\n",
            "[syntax error in a.yml line 2: expected ',' or ']', but got '<stream end>']",
        ),
    ],
)
def test_an_error_that_an_edit_brings_in_is_named(path, good, bad, says):
    assert problem_after(path, good, bad) == says
    assert problem_after(path, None, bad) == says
    assert problem_after(path, bad, bad + "\n") == ""
    assert problem_after(path, None, good) == problem_after(path, bad, good) == ""


def test_an_error_that_moved_is_not_a_new_one():
    assert problem_after("a.py", "x = (\n", "y = 1\nx = (\n") == ""


def test_a_file_of_another_kind_is_not_judged():
    assert problem_after("a.c", None, "int main(") == ""


def test_a_warning_is_not_an_error():
    assert problem_after("a.py", None, "x = '\\d'\n") == ""
