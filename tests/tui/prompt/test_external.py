"""The box at a real terminal: keys as terminals send them, and an editor that has the terminal for itself."""

import asyncio
import os
from pathlib import Path

import pytest

from tests.cli.terminal import terminal

ROOT = Path(__file__).parents[3]


def box(folder: Path, editor: str):
    """A screen with the box at a terminal."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "TERM": "xterm-256color", "PYTHONPATH": str(ROOT)}
    return terminal(["-m", "tests.tui.prompt.editor_app", str(folder), editor], environ, ROOT)


@pytest.mark.parametrize("key", ["\x1b\r", "\n", "\x1b\n", "\x1b[13;3u", "\x1b[13;2u"])
async def test_a_newline_as_terminals_send_it(tmp_path: Path, key: str):
    async with box(tmp_path, "false") as there:
        await there.until("tick")
        there.type("one")
        await there.until("one")
        there.type(key)
        there.type("two")
        await there.until("two")
        there.type("\r")
        await there.until("sent 'one\\ntwo'")


async def test_the_terminal_is_lent_to_the_editor_while_the_screen_goes_on(tmp_path: Path):
    editor = tmp_path / "editor"
    editor.write_text('#!/bin/sh\necho EDITING; read line; printf "%s" "$line" > "$1"\n')
    editor.chmod(0o755)
    async with box(tmp_path, str(editor)) as there:
        await there.until("tick")
        there.type("draft")
        await there.until("draft")
        there.type("\x07")
        await there.until("EDITING")
        before = there.written
        await asyncio.sleep(0.7)
        assert "tick" not in there.written[len(before) :]
        there.type("from the editor\r")
        await there.until("from the editor", 10)
        await there.until("from the editor", 10)
        there.type("\r")
        await there.until("sent 'from the editor' after many ticks")
        assert await there.end() == 0
