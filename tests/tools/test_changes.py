import subprocess
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from hermes.protocol.items import FileChange
from hermes.tools.changes import LONGEST, changed
from hermes.tools.text import TextFile

TEXTS = st.lists(st.text(alphabet="ab\té\u2028", max_size=3), max_size=25).map("\n".join)


def test_an_edit_is_a_unified_diff_with_its_counts():
    old = TextFile("".join(f"{number}\n" for number in range(1, 21)))
    new = TextFile(old.text.replace("12\n", "twelve\nand more\n"))
    assert changed("/w/a.txt", old, new, name="a.txt", old_name="a.txt") == FileChange(
        "/w/a.txt",
        "edited",
        "--- a/a.txt\n+++ b/a.txt\n@@ -9,7 +9,8 @@\n 9\n 10\n 11\n-12\n+twelve\n+and more\n 13\n 14\n 15\n",
        added=2,
        removed=1,
    )


def test_files_come_go_and_move():
    text = TextFile("a\n")
    assert changed("/x", None, text, name="/x", old_name="/x") == FileChange(
        "/x", "created", "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n", added=1
    )
    assert changed("/x", text, None, name="x", old_name="x") == FileChange(
        "/x", "deleted", "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", removed=1
    )
    assert changed("/y", text, text, name="y", old_name="x", moved=True) == FileChange("/y", "moved")


def test_a_huge_diff_is_cut():
    change = changed("/x", None, TextFile(("a" * 99 + "\n") * 1000), name="x", old_name="x")
    assert LONGEST < len(change.diff) < LONGEST + 100
    assert change.added == 1000


@settings(max_examples=40, deadline=None)
@given(TEXTS, TEXTS)
def test_git_can_apply_every_diff(old, new):
    diff = changed("/w/f", TextFile(old), TextFile(new), name="f", old_name="f").diff
    assert bool(diff) == (old != new)
    if not diff:
        return
    with TemporaryDirectory() as folder:
        with open(f"{folder}/f", "w", encoding="utf-8", newline="") as file:
            file.write(old)
        subprocess.run(["git", "apply", "-p1", "-"], input=diff.encode(), cwd=folder, check=True, capture_output=True)
        with open(f"{folder}/f", encoding="utf-8", newline="") as file:
            assert file.read() == new
