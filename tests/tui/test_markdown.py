"""Markdown in lines: what each block looks like, and that a text that grows looks like one that came at once."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.tui.code import CODE_PART, code
from hermes.tui.markdown import Markdown

TEXT = """\
# Title

Some **bold _it_** and `code` and [a link](http://a.b/c) that wraps around.

3. three
4. four
   - nested
   - more

> a quote of
> two lines

```python
def f(x):
\treturn x + 1
```

| a | b |
|---|---|
| 1 | a long cell that wraps |

---
last
"""

LINES = """\
Title

Some bold it and code and a
link (http://a.b/c) that wraps
around.

3. three
4. four
   • nested
   • more

▎ a quote of
▎ two lines

 def f(x):
     return x + 1

a │ b
──┼───────────────────────
1 │ a long cell that wraps

──────────────────────────────

last"""


def plain(text: str, width: int) -> list[str]:
    return [line.plain.rstrip() for line in Markdown(text).lines(width)]


def test_every_kind_of_block_is_drawn():
    assert "\n".join(plain(TEXT, 30)) == LINES


@pytest.mark.parametrize("width", [20, 60, 160])
def test_no_line_is_wider_than_asked(width):
    assert all(line.cell_length <= width for line in Markdown(TEXT).lines(width))


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(1, 60), min_size=1, max_size=12), st.sampled_from([24, 80]))
def test_a_text_that_grows_looks_like_one_that_came_at_once(steps, width):
    growing, at = Markdown(), 0
    for step in steps:
        at += step
        growing.text = TEXT[:at]
        assert [line.plain for line in growing.lines(width)] == [
            line.plain for line in Markdown(TEXT[:at]).lines(width)
        ]


def test_another_width_draws_everything_anew():
    markdown = Markdown(TEXT)
    markdown.lines(80)
    assert [line.plain.rstrip() for line in markdown.lines(30)] == plain(TEXT, 30)


def test_a_table_pushes_its_columns_to_the_sides_it_names():
    assert plain("| left | mid | right |\n|---|:---:|---:|\n| a | b | 1 |\n| long | wider | 22 |", 40) == [
        "left │  mid  │ right",
        "─────┼───────┼──────",
        "a    │   b   │     1",
        "long │ wider │    22",
    ]


def test_an_empty_text_has_no_lines():
    assert Markdown("").lines(40) == []


def test_code_keeps_its_lines_and_folds_those_that_are_too_long():
    assert [line.plain for line in code("abcdefghij\n\nx\n", "", 6)] == [
        " abcd ",
        " efgh ",
        " ij   ",
        "      ",
        " x    ",
    ]


def test_long_code_has_all_its_lines():
    text = "\n".join(f"x{n} = {n}" for n in range(3 * CODE_PART + 5))
    assert [line.plain.strip() for line in code(text, "python", 40)] == text.split("\n")


def test_code_in_a_language_that_nobody_knows_stays_plain():
    assert [line.plain.strip() for line in code("hello", "no-such-language", 40)] == ["hello"]
