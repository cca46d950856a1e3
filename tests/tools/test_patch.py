import pytest

from hermes.protocol.errors import ToolError
from hermes.protocol.items import FileChange, Location
from hermes.protocol.tools import said
from hermes.tools.toolsets import make_tools


async def test_a_replacement_returns_its_diff(ctx, tmp_path):
    (tmp_path / "a.py").write_text("x = 1\ny = 2\n")
    diff = "--- a/a.py\n+++ b/a.py\n@@ -1,2 +1,2 @@\n-x = 1\n+x = 3\n y = 2\n"
    real = str(tmp_path / "a.py")
    assert await ctx.do("patch", path="a.py", old_string="x = 1", new_string="x = 3") == said(
        diff.rstrip("\n"), files=(FileChange(real, "edited", diff, 1, 1),), locations=(Location(real),)
    )
    assert (tmp_path / "a.py").read_text() == "x = 3\ny = 2\n"


async def test_a_loose_match_says_so(ctx, tmp_path):
    (tmp_path / "a").write_text("\tone\n\ttwo\n")
    text = await ctx.text("patch", path="a", old_string="one\ntwo", new_string="one\nthree")
    assert text.endswith("\n-\ttwo\n+\tthree\n[matched at another indentation: check the diff]")


async def test_all_occurrences_are_counted(ctx, tmp_path):
    (tmp_path / "a").write_text("x\nx\n")
    text = await ctx.text("patch", path="a", old_string="x", new_string="y", replace_all=True)
    assert text.endswith("[replaced 2 times]")
    assert (tmp_path / "a").read_text() == "y\ny\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"one\r\ntwo\r\n", b"one\r\nTWO\r\nthree\r\n"),
        (b"\xef\xbb\xbfone\ntwo", b"\xef\xbb\xbfone\nTWO\nthree"),
        (b"caf\xe9\none\ntwo\n", b"caf\xe9\none\nTWO\nthree\n"),
        (b"one\r\ntwo\r\nx\n", b"one\r\nTWO\r\nthree\r\nx\n"),
    ],
)
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
async def test_every_other_byte_of_the_file_stays(ctx, tmp_path, before, after, newline):
    (tmp_path / "a").write_bytes(before)
    await ctx.do("patch", path="a", old_string=f"one{newline}two", new_string=f"one{newline}TWO{newline}three")
    assert (tmp_path / "a").read_bytes() == after


async def test_a_patch_changes_several_files_at_once(ctx, tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_bytes(b"def f():\r\n    return 1\r\n")
    (tmp_path / "old").write_text("x\ny\n")
    (tmp_path / "gone").write_text("bye\n")
    result = await ctx.do(
        "patch",
        mode="patch",
        patch="""\
*** Begin Patch
*** Update File: src/a.py
@@ def f():
-    return 1
+    return (2
*** Update File: old
*** Move to: lib/new
-x
+z
*** Delete File: gone
*** Add File: docs/b.md
+# B
*** End Patch""",
    )
    assert {str(path.relative_to(tmp_path)): path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == {
        "src/a.py": b"def f():\r\n    return (2\r\n",
        "lib/new": b"z\ny\n",
        "docs/b.md": b"# B\n",
    }
    assert [(change.path.removeprefix(f"{tmp_path}/"), change.change) for change in result.files] == [
        ("src/a.py", "edited"),
        ("lib/new", "moved"),
        ("docs/b.md", "created"),
        ("gone", "deleted"),
    ]
    [part] = result.parts
    assert (
        part.text
        == """\
--- a/src/a.py
+++ b/src/a.py
@@ -1,2 +1,2 @@
 def f():
-    return 1
+    return (2
--- a/old
+++ b/lib/new
@@ -1,2 +1,2 @@
-x
+z
 y
created docs/b.md (+1 -0 lines)
deleted gone (+0 -1 lines)
[syntax error in src/a.py line 2: '(' was never closed]"""
    )


async def test_a_file_may_be_edited_twice_and_moved_in_one_patch(ctx, tmp_path):
    (tmp_path / "a").write_text("one\ntwo\n")
    await ctx.do(
        "patch",
        patch="*** Update File: a\n-one\n+1\n*** Update File: ./a\n*** Move to: b\n-two\n+2\n",
    )
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("b", "1\n2\n")]


@pytest.mark.parametrize(
    ("patch", "says"),
    [
        ("*** Update File: b\n-nothing like it\n", "b: these lines of the patch were not found"),
        ("*** Update File: bb\n-x\n", r"bb does not exist\. Did you mean b\?"),
        ("*** Add File: b\n+x\n", "b exists already; nothing was changed. Use [*]{3} Update File."),
        ("*** Update File: b\n*** Move to: a\n", "a exists already; nothing was changed."),
        ("*** Delete File: b\n*** Update File: b\n-x\n", "b is deleted or moved by the same patch"),
        ("nonsense", "Patch line 4: every line of a hunk begins"),
    ],
)
async def test_a_patch_of_which_one_part_fails_changes_nothing(ctx, tmp_path, patch, says):
    (tmp_path / "a").write_text("one\n")
    (tmp_path / "b").write_text("two\n")
    with pytest.raises(ToolError, match=says):
        await ctx.do("patch", mode="patch", patch=f"*** Update File: a\n-one\n+1\n{patch}")
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "one\n", "b": "two\n"}


@pytest.mark.parametrize(
    ("args", "says"),
    [
        ({"path": "ab", "old_string": "x", "new_string": "y"}, "ab does not exist. Did you mean a?"),
        ({"old_string": "x", "new_string": "y"}, "path is empty"),
        ({"path": "a", "old_string": "zzz", "new_string": "y"}, "old_string was not found"),
        ({"mode": "patch", "path": "a"}, "The patch changes nothing"),
        ({"patch": "*** Update File: a\n-one\n+one\n"}, "leaves every file as it is"),
    ],
)
async def test_an_edit_that_cannot_be_done_says_why(ctx, tmp_path, args, says):
    (tmp_path / "a").write_text("one\n")
    with pytest.raises(ToolError, match=says):
        await ctx.do("patch", **args)


def test_a_call_names_the_files_it_will_write():
    [patch] = make_tools(["patch"])
    many = patch.args(patch="*** Update File: a\n*** Move to: ./b\n*** Add File: c\n+x")
    assert patch.writes(many) == ("a", "c", "b")
    assert patch.title(many) == "a, c, b"
    assert patch.writes(patch.args(path="x//y")) == ("x/y",)
    assert patch.writes(patch.args(mode="patch", patch="nonsense")) is None
