import pytest

from hermes.protocol.errors import TerminalError, ToolError


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "src").mkdir()
    (tmp_path / "src/a.py").write_text("import os\n\ndef find():\n    return 1\n\n\ndef find_all():\n    return 2\n")
    (tmp_path / "src/b.txt").write_text("find me\n" + "x" * 600 + " find\n")
    (tmp_path / "README.md").write_text("How to find things\n")
    return tmp_path


async def test_lines_are_listed_under_their_file(ctx, tree):
    assert await ctx.text("search_files", pattern=r"def \w+\(", path="src") == (
        "src/a.py\n3:def find():\n7:def find_all():"
    )


async def test_context_stands_round_the_lines(ctx, tree):
    assert await ctx.text("search_files", pattern="def find", file_glob="*.py", context=1) == (
        "src/a.py\n2-\n3:def find():\n4-    return 1\n--\n6-\n7:def find_all():\n8-    return 2"
    )


async def test_long_lines_are_cut(ctx, tree):
    text = await ctx.text("search_files", pattern="x find", path="src/b.txt")
    assert text == "src/b.txt\n2:" + "x" * 500 + " [105 more]"


async def test_results_come_in_pages(ctx, tree):
    pages = [await ctx.text("search_files", pattern="find", limit=2, offset=offset) for offset in (0, 2, 4, 6)]
    assert pages == [
        "README.md\n1:How to find things\nsrc/a.py\n3:def find():\n[there are more: continue with offset=2]",
        "src/a.py\n7:def find_all():\nsrc/b.txt\n1:find me\n[there are more: continue with offset=4]",
        "src/b.txt\n2:" + "x" * 500 + " [105 more]",
        "[no more: there are only 5]",
    ]


async def test_a_page_with_context_begins_behind_the_last_one(ctx, tree):
    text = await ctx.text("search_files", pattern="def find", file_glob="*.py", context=1, limit=1, offset=1)
    assert text == "src/a.py\n4-    return 1\n--\n6-\n7:def find_all():\n8-    return 2"


async def test_files_can_be_named_or_counted(ctx, tree):
    assert await ctx.text("search_files", pattern="find", output_mode="files_only") == (
        "README.md\nsrc/a.py\nsrc/b.txt"
    )
    assert await ctx.text("search_files", pattern="find", output_mode="count", limit=2) == (
        "README.md: 1\nsrc/a.py: 2\n[there are more: continue with offset=2]"
    )


async def test_files_are_found_by_name(ctx, tree):
    assert await ctx.text("search_files", pattern="*.py", target="files") == "src/a.py"
    assert await ctx.text("search_files", pattern="READ", target="files") == "README.md"
    assert await ctx.text("search_files", pattern="*.c", target="files") == "[no file found]"


async def test_nothing_found_is_said(ctx, tree):
    assert await ctx.text("search_files", pattern="nonesuch") == "[no match found]"


async def test_a_search_that_cannot_be_done_says_why(ctx, tree):
    with pytest.raises(ToolError, match=r"scr does not exist\. Did you mean src"):
        await ctx.do("search_files", pattern="x", path="scr")
    with pytest.raises(TerminalError, match="unclosed group"):
        await ctx.do("search_files", pattern="(")
