import os
import struct
import zlib

import pytest

from hermes.config import File, ToolOutput
from hermes.protocol.errors import TerminalError, ToolError
from hermes.protocol.items import FileChange, Image, Location, Text
from hermes.protocol.tools import Result, said
from hermes.tools.toolsets import make_tools


async def test_a_file_is_read_as_numbered_lines(ctx, tmp_path):
    (tmp_path / "a.txt").write_bytes("\ufeffone\r\n\r\nthree é".encode())
    real = str(tmp_path / "a.txt")
    assert await ctx.do("read_file", path="a.txt") == Result(
        parts=(Text("1|one\n2|\n3|three é"),), locations=(Location(real, 1),), source=real
    )


async def test_a_long_file_says_how_to_go_on(ctx, tmp_path):
    (tmp_path / "a").write_text("".join(f"{n}\n" for n in range(1, 1001)))
    first = await ctx.text("read_file", path="a")
    assert first.startswith("1|1\n") and first.endswith("500|500\n[lines 1 to 500 of 1000; continue with offset=501]")
    assert await ctx.text("read_file", path="a", offset=998, limit=2) == (
        "998|998\n999|999\n[lines 998 to 999 of 1000; continue with offset=1000]"
    )
    assert await ctx.text("read_file", path="a", offset=1000) == "1000|1000"
    with pytest.raises(ToolError, match="a has 1000 lines; offset 1001 is behind its end"):
        await ctx.do("read_file", path="a", offset=1001)


async def test_no_page_is_longer_than_the_cap(ctx, tmp_path):
    (tmp_path / "a").write_text(("x" * 3000 + "\n") * 200)
    page = await ctx.text("read_file", path="a")
    lines = page.split("\n")
    assert lines[0] == "1|" + "x" * 2000 + " [1000 more characters]"
    assert len(page) <= ctx.tools["read_file"].cap
    assert lines[-1] == f"[lines 1 to {len(lines) - 1} of 200; continue with offset={len(lines)}]"


async def test_an_unchanged_page_is_not_sent_twice_in_a_row(ctx, tmp_path):
    (tmp_path / "a").write_text("one\n")
    note = "[a is unchanged since you read it; call again if that text is no longer in view]"
    read = [await ctx.text("read_file", path=path) for path in ("a", "./a", "a")]
    assert read == ["1|one", "[./a" + note[2:], "1|one"]
    (tmp_path / "a").write_text("two\n")
    os.utime(tmp_path / "a", (1, 1))
    assert await ctx.text("read_file", path="a") == "1|two"
    assert await ctx.text("read_file", path="a", limit=1) == "1|two"


async def test_a_file_of_the_kernel_is_always_read_anew(ctx):
    assert (await ctx.text("read_file", path="/proc/uptime")).startswith("1|")
    assert (await ctx.text("read_file", path="/proc/uptime")).startswith("1|")


async def test_what_is_not_utf8_is_said(ctx, tmp_path):
    (tmp_path / "a").write_bytes(b"caf\xe9\n")
    assert await ctx.text("read_file", path="a") == (
        "1|caf\ufffd\n[some bytes are not UTF-8 and shown as \ufffd; patch keeps them, write_file would not]"
    )


async def test_an_empty_file_says_so(ctx, tmp_path):
    (tmp_path / "a").touch()
    assert await ctx.text("read_file", path="a") == "[the file is empty]"


async def test_a_folder_is_listed(ctx, tmp_path):
    (tmp_path / "src/deep").mkdir(parents=True)
    (tmp_path / "src/a.py").touch()
    hint = "[a folder; search_files with target=files finds files below it]"
    assert await ctx.text("read_file", path="src") == f"src:\na.py\ndeep/\n{hint}"
    assert await ctx.text("read_file", path="src/deep") == f"src/deep:\n[empty]\n{hint}"


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"\x7fELF\0\0", "a is binary; look at it with terminal"),
        ("hi".encode("utf-16"), "a is UTF-16 text; convert it with terminal"),
        (b"\xff\xd8\xff" + bytes(5_000_000), "a is an image above 5 MB"),
    ],
)
async def test_what_is_not_text_says_what_to_do(ctx, tmp_path, content, says):
    (tmp_path / "a").write_bytes(content)
    with pytest.raises(ToolError) as error:
        await ctx.do("read_file", path="a")
    assert str(error.value).startswith(says)


async def test_a_device_or_pipe_is_refused_without_opening_it(ctx, tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in ("pipe", "/dev/zero"):
        with pytest.raises(ToolError, match="is a device, pipe or socket"):
            await ctx.do("read_file", path=path)


def png() -> bytes:
    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")


async def test_an_image_is_kept_and_shown(ctx, tmp_path):
    (tmp_path / "dot.png").write_bytes(png())
    result = await ctx.do("read_file", path="dot.png")
    [(ref, data)] = ctx.blobs.items()
    assert data == png()
    assert result.parts == (
        Text(f"[image dot.png, image/png, {len(png())} bytes]"),
        Image(ref, "image/png", "dot.png"),
    )


async def test_a_spilled_result_can_be_paged_and_is_not_trusted(ctx):
    ref = await ctx.keep(b"one\ntwo\nthree\n", "text/plain")
    assert await ctx.do("read_file", path=f"blob:{ref[:16]}", offset=2, limit=1) == Result(
        parts=(Text("2|two\n[lines 2 to 2 of 3; continue with offset=3]"),),
        source=f"blob:{ref[:16]}",
        trust="untrusted",
    )
    with pytest.raises(ToolError, match="blob:ffff: no stored data is named"):
        await ctx.do("read_file", path="blob:ffff")


async def test_a_file_is_created_with_its_folders(ctx, tmp_path):
    real = str(tmp_path / "src/new.py")
    assert await ctx.do("write_file", path="src/new.py", content="x = 1\n") == said(
        "created src/new.py (+1 -0 lines)",
        files=(FileChange(real, "created", "--- /dev/null\n+++ b/src/new.py\n@@ -0,0 +1 @@\n+x = 1\n", added=1),),
        locations=(Location(real),),
    )
    assert (tmp_path / "src/new.py").read_text() == "x = 1\n"


async def test_a_file_is_replaced_with_its_line_endings_mark_and_mode(ctx, tmp_path):
    path = tmp_path / "run.sh"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\r\n")
    path.chmod(0o755)
    result = await ctx.do("write_file", path="run.sh", content="one\nthree\n")
    assert path.read_bytes() == b"\xef\xbb\xbfone\r\nthree\r\n"
    assert path.stat().st_mode & 0o777 == 0o755
    [change] = result.files
    assert change.diff == "--- a/run.sh\n+++ b/run.sh\n@@ -1,2 +1,2 @@\n one\n-two\n+three\n"


async def test_explicit_line_endings_are_written_as_they_are(ctx, tmp_path):
    (tmp_path / "a").write_bytes(b"one\n")
    await ctx.do("write_file", path="a", content="one\r\ntwo\r\n")
    assert (tmp_path / "a").read_bytes() == b"one\r\ntwo\r\n"


async def test_the_same_content_is_not_written_again(ctx, tmp_path):
    (tmp_path / "a").write_text("x\n")
    os.utime(tmp_path / "a", (1, 1))
    assert await ctx.do("write_file", path="a", content="x\n") == said("a already holds exactly this.")
    assert (tmp_path / "a").stat().st_mtime == 1


async def test_even_a_binary_file_can_be_emptied(ctx, tmp_path):
    (tmp_path / "a").write_bytes(b"\0\1")
    assert await ctx.text("write_file", path="a", content="") == "edited a (+0 -0 lines)"
    assert (tmp_path / "a").read_bytes() == b""


async def test_a_syntax_error_that_a_write_brings_in_is_told(ctx):
    assert await ctx.text("write_file", path="a.py", content="def f(:\n") == (
        "created a.py (+1 -0 lines)\n[syntax error in a.py line 1: invalid syntax]"
    )
    assert await ctx.text("write_file", path="a.py", content="\ndef f(:\n") == "edited a.py (+1 -0 lines)"


@pytest.mark.parametrize(
    ("path", "content", "error", "says"),
    [
        ("a", "1|x\n2|y\n", ToolError, "content carries the line numbers of read_file"),
        (".", "x", ToolError, ". is a folder, not a file."),
        ("file/a", "x", TerminalError, "file"),
    ],
)
async def test_what_cannot_be_written_says_why(ctx, tmp_path, path, content, error, says):
    (tmp_path / "file").write_text("kept")
    with pytest.raises(error, match=says):
        await ctx.do("write_file", path=path, content=content)
    assert [found.name for found in tmp_path.iterdir()] == ["file"]


def test_calls_say_what_they_are_about():
    read, write = make_tools(["read_file", "write_file"])
    assert (read.effect, read.title(read.args(path="a"))) == (False, "a")
    args = write.args(path="./x/../a", content="")
    assert (write.effect, write.title(args), write.writes(args)) == (True, "./x/../a", ("a",))


async def test_the_settings_say_how_much_of_a_file_is_shown(ctx, tmp_path):
    (tmp_path / "a").write_text("".join(f"{n:>60}\n" for n in range(1, 101)))
    shown = ToolOutput(max_lines=5, max_line_length=58)
    ctx.tools |= {tool.spec.name: tool for tool in make_tools(["read_file"], File(tool_output=shown))}
    lines = (await ctx.text("read_file", path="a", limit=400)).split("\n")
    assert lines[0] == f"1|{' ' * 58} [2 more characters]"
    assert lines[5:] == ["[lines 1 to 5 of 100; continue with offset=6]"]


async def test_the_settings_say_how_long_a_page_may_be(ctx, tmp_path):
    (tmp_path / "a").write_text(("x" * 98 + "\n") * 100)
    ctx.tools |= {tool.spec.name: tool for tool in make_tools(["read_file"], File(file_read_max_chars=2_000))}
    page = await ctx.text("read_file", path="a")
    assert page.endswith("\n[lines 1 to 9 of 100; continue with offset=10]")
    assert (ctx.tools["read_file"].cap, len(page) < 2_000) == (2_000, True)


async def test_a_line_longer_than_a_page_is_cut_and_the_next_can_be_reached(ctx, tmp_path):
    (tmp_path / "a").write_text("x" * 5_000 + "\nend\n")
    settings = File(file_read_max_chars=2_000, tool_output=ToolOutput(max_line_length=9_000))
    ctx.tools |= {tool.spec.name: tool for tool in make_tools(["read_file"], settings)}
    assert await ctx.text("read_file", path="a") == f"1|{'x' * 500} [4500 more characters]\n2|end"
