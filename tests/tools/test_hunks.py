from difflib import SequenceMatcher

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.protocol.errors import ToolError
from hermes.tools.hunks import apply
from hermes.tools.patchfile import Hunk, UpdateFile, parse

LINES = st.lists(st.text(alphabet="ab *@+-", max_size=3))
DISTINCT = st.lists(st.text(alphabet="abcde *@+-", max_size=4), unique=True)


def patch_between(old: list[str], new: list[str]) -> str:
    """A V4A patch as a careful model would write it."""
    lines = ["*** Begin Patch", "*** Update File: f"]
    for group in SequenceMatcher(None, old, new, autojunk=False).get_grouped_opcodes(3):
        lines.append("@@")
        for kind, a, b, c, d in group:
            if kind == "equal":
                lines += [f" {line}" for line in old[a:b]]
            else:
                lines += [f"-{line}" for line in old[a:b]] + [f"+{line}" for line in new[c:d]]
    return "\n".join([*lines, "*** End Patch"])


def text_of(lines: list[str], newline: str) -> str:
    return "\n".join(lines) + newline if lines else ""


def patched(text: str, patch: str) -> str:
    [update] = parse(patch)
    assert isinstance(update, UpdateFile)
    return apply(text, update.hunks, "f")


@settings(deadline=None)
@given(DISTINCT, st.data(), st.sampled_from(["\n", ""]))
def test_a_patch_made_from_an_edit_gives_exactly_the_edited_text(old, data, newline):
    new = data.draw(st.lists(st.sampled_from(old) if old else st.nothing(), unique=True)) if old else []
    for line in data.draw(st.lists(st.text(alphabet="xyz ", max_size=3), max_size=4)):
        new.insert(data.draw(st.integers(0, len(new))), line)
    if old == new:
        return
    # An empty last line, or none, cannot lack its newline.
    if not all(lines and lines[-1] for lines in (old, new)):
        newline = "\n"
    assert patched(text_of(old, newline), patch_between(old, new)) == text_of(new, newline)


@settings(deadline=None)
@given(LINES, LINES)
def test_a_patch_over_repeated_lines_is_right_or_refused(old, new):
    if old == new:
        return
    try:
        assert patched(text_of(old, "\n"), patch_between(old, new)) == text_of(new, "\n")
    except ToolError as error:
        assert "fits several places" in str(error)


CODE = "class A:\n    def f(self):\n        return 1\n\n\nclass B:\n    def f(self):\n        return 1\n"


def test_anchors_lead_to_the_right_place():
    hunk = Hunk(("-        return 1", "+        return 2"), ("class B:", "def f(self):"))
    assert apply(CODE, (hunk,), "f") == CODE[:-2] + "2\n"


def test_an_anchor_may_be_quoted_again_and_be_a_beginning():
    hunk = Hunk((" class B:", "     def f(self):", "-        return 1"), ("class B",))
    assert apply(CODE, (hunk,), "f") == CODE.removesuffix("        return 1\n")


def test_new_lines_go_below_the_anchor_or_to_the_end():
    added = ("+    x = 1",)
    assert apply(CODE, (Hunk(added, ("class B:",)),), "f") == CODE.replace("class B:\n", "class B:\n    x = 1\n")
    assert apply(CODE, (Hunk(added),), "f") == CODE + "    x = 1\n"
    assert apply("", (Hunk(added),), "f") == "    x = 1\n"


def test_the_end_of_the_file_can_be_meant():
    hunk = Hunk(("-        return 1", "+        return 2"), at_end=True)
    assert apply(CODE, (hunk,), "f") == CODE[:-2] + "2\n"


def test_a_loose_quote_keeps_the_files_own_lines_and_depth():
    hunk = Hunk((" class B:", " def f(self):", "-return 1", "+return 2"))
    assert apply(CODE.replace("    ", "\t"), (hunk,), "f") == CODE.replace("    ", "\t")[:-2] + "2\n"


def test_hunks_out_of_order_are_placed_where_they_fit():
    hunks = (Hunk(("-c", "+C")), Hunk(("-a", "+A")))
    assert apply("a\nb\nc\n", hunks, "f") == "A\nb\nC\n"


@pytest.mark.parametrize(
    ("hunks", "says"),
    [
        ((Hunk(("-        return 1",)),), "f: a hunk fits several places (lines 3, 8); add '@@ '"),
        ((Hunk(("-x",), ("class C:",)),), "f: no line is 'class C:', which the patch names after '@@'."),
        (
            (Hunk(("-        return 10",)),),
            "f: these lines of the patch were not found:\n        return 10\nThe closest lines are:\n1|class A:\n",
        ),
        ((Hunk((" class A:", "-    def f(self):")), Hunk(("-class A:",))), "f: two hunks change line 1"),
    ],
)
def test_a_hunk_that_does_not_fit_says_why(hunks, says):
    with pytest.raises(ToolError) as error:
        apply(CODE, hunks, "f")
    assert str(error.value).startswith(says)
