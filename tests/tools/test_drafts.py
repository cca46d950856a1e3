import pytest

from hermes.protocol.errors import TerminalError, ToolError
from hermes.terminals.files import LocalFiles
from hermes.tools.drafts import Drafts
from hermes.tools.text import TextFile


async def test_a_write_that_fails_puts_back_what_was_written_before_it(ctx, tmp_path):
    (tmp_path / "a").write_bytes(b"one\r\ntwo\r\n")
    (tmp_path / "gone").write_text("x")
    drafts = Drafts(ctx)
    (await drafts.open("a")).after = TextFile("changed\n")
    (await drafts.open("new")).after = TextFile("new\n")
    (await drafts.open("gone")).after = None
    (await drafts.open("a/below")).after = TextFile("cannot be\n")
    with pytest.raises(TerminalError, match="a"):
        await drafts.save()
    assert (tmp_path / "a").read_bytes() == b"one\r\ntwo\r\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "gone"]


async def test_files_of_a_plugin_that_fail_in_a_way_of_their_own_are_put_back_too(ctx, tmp_path):
    class Odd(LocalFiles):
        async def write(self, path: str, data: bytes) -> None:
            if path.endswith("b"):
                raise ZeroDivisionError("odd")
            await super().write(path, data)

    (tmp_path / "a").write_text("one\n")
    ctx.files = Odd(lambda: str(tmp_path), {"HOME": str(tmp_path)})
    drafts = Drafts(ctx)
    (await drafts.open("a")).after = TextFile("changed\n")
    (await drafts.open("b")).after = TextFile("new\n")
    with pytest.raises(ZeroDivisionError, match="odd"):
        await drafts.save()
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == {"a": "one\n"}


async def test_a_file_named_twice_is_one_draft(ctx, tmp_path):
    (tmp_path / "a").write_text("x\n")
    (tmp_path / "link").symlink_to("a")
    drafts = Drafts(ctx)
    assert await drafts.open("a") is await drafts.open("link") is await drafts.open(str(tmp_path / "a"))


@pytest.mark.parametrize("content", [b"\0", b"a" * 10_000_001])
async def test_what_cannot_be_edited_as_text_is_refused(ctx, tmp_path, content):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(ToolError, match="a is binary or larger than 10 MB; change it with terminal"):
        await Drafts(ctx).open("a")
    assert (await Drafts(ctx).open("a", replace=True)).before is not None
