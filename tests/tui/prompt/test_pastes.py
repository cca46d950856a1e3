"""Pastes, dropped files, pictures and the editor in the box."""

import os
from pathlib import Path

import pytest

from hermes.protocol.errors import UserError
from hermes.tui.prompt.clipboard import PNG, save_picture
from hermes.tui.prompt.dropped import dropped, reference
from hermes.tui.prompt.external import editor_of
from hermes.tui.prompt.folds import Folds
from tests.tui.prompt.desk import desk

LARGE = "\n".join(f"line {number}" for number in range(120))


def program(folder: Path, name: str, script: str) -> dict[str, str]:
    """An environment whose PATH has this program."""
    folder.mkdir(exist_ok=True)
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:{os.environ['PATH']}", "HOME": str(folder)}


# Large pastes


async def test_a_large_paste_is_folded_and_sent_whole(tmp_path: Path):
    async with desk(tmp_path) as one:
        await one.type("see ")
        await one.paste(LARGE)
        assert one.shown == "see [pasted 120 lines #1]"
        await one.paste("x" * 3000)
        assert one.shown == "see [pasted 120 lines #1][pasted 3,000 characters #2]"
        await one.press("enter")
        assert one.screen.sent == [(f"see {LARGE}{'x' * 3000}", ())]
        await one.press("up")
        assert one.shown == f"see {LARGE}{'x' * 3000}"


async def test_a_small_paste_stays_as_it_is(tmp_path: Path):
    async with desk(tmp_path) as one:
        await one.paste("a\r\nb\rc")
        assert (one.shown, one.screen.sent) == ("a\nb\nc", [])


async def test_a_paste_can_be_unfolded_and_folded_again(tmp_path: Path):
    async with desk(tmp_path) as one:
        await one.paste(LARGE)
        await one.press("alt+o")
        assert one.shown == LARGE
        await one.press("ctrl+underscore")
        assert one.shown == "[pasted 120 lines #1]"


async def test_backspace_takes_a_folded_paste_away_as_a_whole(tmp_path: Path):
    async with desk(tmp_path) as one:
        await one.type("see ")
        await one.paste(LARGE)
        await one.press("backspace")
        assert one.shown == "see "


async def test_a_paste_goes_into_the_place_of_what_is_selected(tmp_path: Path):
    async with desk(tmp_path) as one:
        await one.type("old")
        await one.press("shift+home")
        await one.paste("new")
        assert one.shown == "new"


def test_words_that_only_look_like_a_paste_stay():
    folds = Folds()
    assert folds.fold("\n" * 5) == "[pasted 6 lines #1]"
    assert folds.unfold("[pasted 6 lines #1] [pasted 6 lines #2]") == "\n\n\n\n\n [pasted 6 lines #2]"


# Dropped files


async def test_a_dropped_file_of_the_workspace_becomes_a_reference(tmp_path: Path):
    work = tmp_path / "work"
    work.mkdir()
    (work / "a.py").touch()
    (work / "my notes.md").touch()
    async with desk(tmp_path) as one:
        await one.paste(f"'{work}/a.py' ")
        await one.paste(f"file://{work}/my%20notes.md")
        await one.paste(f"{work}")
        assert one.shown == '@file:a.py @file:"my notes.md" @folder:. '


async def test_a_dropped_picture_is_sent_along(tmp_path: Path):
    picture = tmp_path / "my shot.PNG"
    picture.write_bytes(PNG)
    async with desk(tmp_path) as one:
        await one.paste(str(picture).replace(" ", "\\ "))
        assert (one.shown, one.box.images) == ("", (picture,))
        await one.type("what is it?")
        await one.press("enter")
        assert one.screen.sent == [("what is it?", (picture,))]
        assert one.box.images == ()


async def test_backspace_in_an_empty_box_takes_a_picture_away(tmp_path: Path):
    picture = tmp_path / "shot.png"
    picture.touch()
    async with desk(tmp_path) as one:
        await one.paste(f'"{picture}"')
        await one.press("x", "backspace")
        assert one.box.images == (picture,)
        await one.press("backspace")
        assert one.box.images == ()


@pytest.mark.parametrize(
    "text", ["README.md", "'not there.txt'", "/no/such/file", "it's", "/usr and more", "file://else/x", ""]
)
def test_other_pastes_name_no_files(text: str):
    assert dropped(text) == []


def test_what_lies_elsewhere_is_named_and_not_quoted(tmp_path: Path):
    (tmp_path / "a b").touch()
    assert reference(tmp_path / "a b", tmp_path / "work") == f"'{tmp_path}/a b'"
    assert reference(tmp_path / "a b", None) == f"'{tmp_path}/a b'"


# Pictures on the clipboard


@pytest.mark.parametrize("key", ["alt+v", "ctrl+v"])
async def test_a_picture_on_the_clipboard_is_sent_along(tmp_path: Path, key: str):
    (tmp_path / "picture").write_bytes(PNG + b"data")
    environ = program(tmp_path / "bin", "wl-paste", f"cat {tmp_path}/picture") | {"WAYLAND_DISPLAY": "wayland-0"}
    async with desk(tmp_path, environ=environ) as one:
        await one.press(key)
        [image] = one.box.images
        assert image.read_bytes() == PNG + b"data"
        await one.press("enter")
        assert one.screen.sent == [("", (image,))]
    assert not image.exists()


async def test_without_a_program_or_a_picture_there_is_one_clear_line(tmp_path: Path):
    async with desk(tmp_path, environ={"PATH": str(tmp_path)}) as one:
        await one.press("alt+v")
        assert one.notices == [
            "pictures cannot be pasted here (install wl-clipboard or xclip (on a Mac pngpaste), or drop the file here)"
        ]
    environ = program(tmp_path / "bin", "xclip", "echo no picture; exit 1") | {"DISPLAY": ":0"}
    with pytest.raises(UserError, match="there is no picture on the clipboard"):
        await save_picture(tmp_path / "pictures", environ)


async def test_a_text_that_was_copied_here_is_pasted_where_there_is_no_picture(tmp_path: Path):
    async with desk(tmp_path, environ={"PATH": str(tmp_path)}) as one:
        await one.type("copied")
        await one.press("f7", "super+c", "end", "ctrl+v")
        assert one.shown == "copiedcopied"


# The editor


@pytest.mark.parametrize("keys", [["ctrl+g"], ["ctrl+x", "ctrl+e"]])
async def test_the_text_is_edited_in_the_persons_editor(tmp_path: Path, keys: list[str]):
    environ = program(tmp_path / "bin", "my-editor", 'tr a-z A-Z < "$2" > x && mv x "$2"; echo >> "$2"')
    async with desk(tmp_path, environ=environ | {"VISUAL": "my-editor --wait", "EDITOR": "false"}) as one:
        await one.type("one\n")
        await one.paste(LARGE)
        await one.press(*keys)
        assert one.shown == f"ONE\n{LARGE.upper()}"
        await one.press("ctrl+underscore")
        assert one.shown == "one\n[pasted 120 lines #1]"


@pytest.mark.parametrize(
    ("editor", "line"),
    [
        ("false", "false ended with code 1 (the text is as it was)"),
        ("no-such-editor", "cannot start no-such-editor: No such file or directory (set EDITOR to one that is there)"),
    ],
)
async def test_an_editor_that_fails_leaves_the_text_as_it_was(tmp_path: Path, editor: str, line: str):
    async with desk(tmp_path, environ={"PATH": os.environ["PATH"], "EDITOR": editor}) as one:
        await one.type("text")
        await one.press("ctrl+g")
        assert (one.shown, one.notices) == ("text", [line])


async def test_ctrl_e_alone_goes_to_the_end_of_the_line(tmp_path: Path):
    async with desk(tmp_path, environ={"EDITOR": "false"}) as one:
        await one.type("ab")
        await one.press("ctrl+a", "ctrl+x", "x", "ctrl+e", "y")
        assert (one.shown, one.notices) == ("xaby", [])


def test_an_editor_that_is_there_is_used_if_none_is_set(tmp_path: Path):
    environ = program(tmp_path / "bin", "nano", "true")
    assert editor_of(environ, instead="wait") == [str(tmp_path / "bin" / "nano")]
    with pytest.raises(UserError, match="no editor is set"):
        editor_of({"PATH": str(tmp_path)}, instead="wait")
