import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.protocol.errors import ToolError
from hermes.tools.patchfile import AddFile, DeleteFile, Hunk, UpdateFile, parse

WHOLE = """\
*** Begin Patch
*** Update File: src/a.py
*** Move to: src/b.py
@@ class A:
@@ def f(self):
 kept

-gone
+come
@@
-x
*** End of File
*** Add File: c d.txt
+one
+
+three

*** Delete File: e
*** End Patch
"""


def test_every_part_of_the_format_is_understood():
    assert parse(WHOLE) == (
        UpdateFile(
            "src/a.py",
            (
                Hunk((" kept", " ", "-gone", "+come"), ("class A:", "def f(self):")),
                Hunk(("-x",), at_end=True),
            ),
            "src/b.py",
        ),
        AddFile("c d.txt", "one\n\nthree\n"),
        DeleteFile("e"),
    )


def test_the_frame_and_line_endings_do_not_matter():
    bare = "\n".join(WHOLE.split("\n")[1:-2])
    assert parse(bare) == parse(WHOLE) == parse(WHOLE.replace("\n", "\r\n"))


def test_numbers_of_other_diffs_are_ignored():
    [update] = parse("*** Update File: a\n@@ -1,2 +1,3 @@ def f():\n-x\n@@ -9 +9 @@\n-y\n")
    assert update == UpdateFile("a", (Hunk(("-x",), ("def f():",)), Hunk(("-y",))))


def test_a_move_needs_no_hunks():
    assert parse("*** Update File: a\n*** Move to: b\n") == (UpdateFile("a", (), "b"),)


@pytest.mark.parametrize(
    ("patch", "says"),
    [
        ("", "The patch changes nothing: it names no file."),
        ("*** Begin Patch\n*** End Patch", "The patch changes nothing: it names no file."),
        ("--- a/x\n+++ b/x\n", "Patch line 1: expected '*** Update File: path'"),
        ("*** Update File:\n-x", "Patch line 1: expected"),
        ("*** Update File: a\n context\n", "Patch: the update of a has no '-' or '+' line."),
        ("*** Update File: a\n@@\n-x\nplain\n", "Patch line 4: every line of a hunk begins with ' ', '-' or '+'; found 'plain'."),
        ("*** Add File: a\nplain\n", "Patch line 2: every line of an added file begins with '+'; found 'plain'."),
    ],
)  # fmt: skip
def test_a_line_that_makes_no_sense_is_named(patch, says):
    with pytest.raises(ToolError) as error:
        parse(patch)
    assert str(error.value).startswith(says)


@settings(deadline=None)
@given(st.lists(st.sampled_from(WHOLE.split("\n") + ["?", "*** ", "@@ -1 +1 @@"])).map("\n".join))
def test_any_text_is_parsed_or_refused(patch):
    try:
        assert parse(patch)
    except ToolError as error:
        assert str(error).startswith(("Patch", "The patch"))
