from pathlib import Path

import pytest

from hermes.config import File
from hermes.protocol.items import Location, Text
from hermes.protocol.tools import Result
from hermes.tools.files import files_tools
from tests.tools.context import Context


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


async def texts(ctx: Context, path: str) -> list[str]:
    """What a read of a path says, part by part."""
    return [part.text for part in (await ctx.do("read_file", path=path)).parts if isinstance(part, Text)]


async def test_the_rules_of_a_folder_follow_the_first_file_that_is_read_there(ctx: Context, tmp_path: Path):
    put(tmp_path / "lib" / "AGENTS.md", "Use tabs.\n")
    put(tmp_path / "lib" / "b.py", "b = 1\n")
    real = str(put(tmp_path / "lib" / "a.py", "a = 1\n"))
    assert await ctx.do("read_file", path="lib/a.py") == Result(
        parts=(Text("1|a = 1"), Text("[rules of this project for lib, from AGENTS.md]\nUse tabs.")),
        locations=(Location(real, 1),),
        source=real,
    )
    assert await texts(ctx, "lib/b.py") == ["1|b = 1"]


async def test_the_rules_of_folders_above_come_first_and_those_of_the_working_folder_are_in_the_prompt(
    ctx: Context, tmp_path: Path
):
    put(tmp_path / "AGENTS.md", "in the prompt")
    put(tmp_path.parent / "CLAUDE.md", "of somebody else")
    put(tmp_path / "lib" / "CLAUDE.md", "outer")
    put(tmp_path / "lib" / "deep" / ".cursorrules", "inner")
    put(tmp_path / "lib" / "deep" / "a", "x")
    assert await texts(ctx, "lib/deep/a") == [
        "1|x",
        "[rules of this project for lib, from CLAUDE.md]\nouter",
        "[rules of this project for lib/deep, from .cursorrules]\ninner",
    ]


async def test_what_is_nearest_counts_and_a_folder_that_is_listed_shows_its_rules(ctx: Context, tmp_path: Path):
    put(tmp_path / "1" / "AGENTS.md", "too far up")
    put(tmp_path / "1/2/3/4/5/6" / "AGENTS.md", "near")
    put(tmp_path / "1/2/3/4/5/6" / "CLAUDE.md", "the second")
    assert (await texts(ctx, "1/2/3/4/5/6"))[1:] == ["[rules of this project for 1/2/3/4/5/6, from AGENTS.md]\nnear"]


async def test_rules_that_are_read_by_name_are_not_shown_twice(ctx: Context, tmp_path: Path):
    put(tmp_path / "lib" / "AGENTS.md", "Use tabs.")
    put(tmp_path / "lib" / "a", "x")
    assert [await texts(ctx, "lib/AGENTS.md"), await texts(ctx, "lib/a")] == [["1|Use tabs."], ["1|x"]]


async def test_they_stay_those_of_the_first_folder_when_the_terminal_goes_elsewhere(ctx: Context, tmp_path: Path):
    put(tmp_path / "a", "x")
    put(tmp_path / "lib" / "AGENTS.md", "Use tabs.")
    put(tmp_path / "lib" / "a", "y")
    await texts(ctx, "a")
    await ctx.do("terminal", command="cd lib")
    assert await texts(ctx, "a") == ["1|y", "[rules of this project for lib, from AGENTS.md]\nUse tabs."]


async def test_long_rules_are_cut_and_say_where_the_rest_is(ctx: Context, tmp_path: Path):
    put(tmp_path / "lib" / "AGENTS.md", "é" * 20_000)
    put(tmp_path / "lib" / "a", "x")
    [_, rules] = await texts(ctx, "lib/a")
    assert rules == f"[rules of this project for lib, from AGENTS.md]\n{'é' * 8_000}\n[read lib/AGENTS.md for the rest]"


@pytest.mark.parametrize("what", ["link", "folder", "empty", "binary"])
async def test_what_are_no_rules_is_passed_over(ctx: Context, tmp_path: Path, what: str):
    put(tmp_path / "lib" / "a", "x")
    rules = tmp_path / "lib" / "AGENTS.md"
    match what:
        case "link":
            rules.symlink_to(put(tmp_path / "secret", "what nobody asked for"))
        case "folder":
            rules.mkdir()
        case "empty":
            rules.write_text(" \n")
        case _:
            rules.write_bytes(b"\0\1\2")
    assert await texts(ctx, "lib/a") == ["1|x"]


async def test_they_can_be_left_out(ctx: Context, tmp_path: Path):
    put(tmp_path / "lib" / "AGENTS.md", "Use tabs.")
    put(tmp_path / "lib" / "a", "x")
    ctx.tools |= {tool.spec.name: tool for tool in files_tools(File(), folder_rules=False)}
    assert await texts(ctx, "lib/a") == ["1|x"]
