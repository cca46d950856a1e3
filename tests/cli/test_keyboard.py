"""The keyboard at a real terminal, with questions that nobody can ask for yet."""

import os
from pathlib import Path

from tests.cli.terminal import terminal

PROGRAM = """
import asyncio, os, sys
from pathlib import Path
from hermes.cli.keyboard import Keyboard
from hermes.cli.pen import Pen

async def main():
    keyboard = Keyboard(Path("history"), Pen(sys.stdout, os.environ))
    async def secret(seconds):
        try:
            async with asyncio.timeout(seconds):
                print("got", repr(await keyboard.secret()), flush=True)
        except TimeoutError:
            print("gone", flush=True)
    async def line():
        print("got", repr(await keyboard.line()), flush=True)
STORY
    keyboard.close()

asyncio.run(main())
"""


def story(*lines: str) -> list[str]:
    return ["-c", PROGRAM.replace("STORY", "\n".join(f"    {line}" for line in lines))]


def environ(term: str = "xterm") -> dict[str, str]:
    return {"PATH": os.environ["PATH"], "TERM": term}


async def test_a_secret_is_not_shown(tmp_path: Path):
    args = story('print("one?", flush=True)', "await secret(10)", "await line()")
    async with terminal(args, environ(), tmp_path) as there:
        await there.until("one?")
        await there.until_hidden()
        there.type("hunter2\n")
        await there.until("got 'hunter2'")
        assert there.plain.count("hunter2") == 1
        await there.until("› ")
        there.type("seen\r")
        await there.until("seen")
        await there.until("got 'seen'")
        assert await there.end() == 0
        assert there.shows_what_is_typed


async def test_a_secret_that_came_too_late_is_neither_shown_nor_taken_for_a_line(tmp_path: Path):
    args = story('print("one?", flush=True)', "await secret(0.3)", "await line()")
    async with terminal(args, environ(), tmp_path) as there:
        await there.until("one?")
        await there.until_hidden()
        there.type("hunt")
        await there.until("gone")
        await there.until("› ")
        there.type("hello\r")
        await there.until("got 'hello'")
        assert await there.end() == 0
        assert "hunt" not in there.plain


async def test_a_secret_waits_for_the_line_that_is_being_typed(tmp_path: Path):
    args = story(
        "prompt = asyncio.create_task(line())",
        "await asyncio.sleep(0.3)",
        "await secret(10)",
        "await prompt",
    )
    async with terminal(args, environ(), tmp_path) as there:
        await there.until("› ")
        there.type("half")
        await there.until("(press Enter first)")
        await there.until("› half")
        there.type(" a line\r")
        await there.until_hidden()
        there.type("hunter2\n")
        await there.until("got 'hunter2'")
        await there.until("got 'half a line'")
        assert await there.end() == 0
        assert there.plain.count("hunter2") == 1


async def test_leaving_in_the_midst_of_a_line_leaves_the_terminal_as_it_was(tmp_path: Path):
    args = story("prompt = asyncio.create_task(line())", "await asyncio.sleep(0.3)", "prompt.cancel()")
    async with terminal(args, environ(), tmp_path) as there:
        await there.until("› ")
        there.type("half")
        assert not there.shows_what_is_typed
        assert await there.end() == 0
        assert there.shows_what_is_typed
        assert there.written.endswith("\x1b[?2004l\r\r\n")


async def test_lines_are_remembered_from_one_session_to_the_next(tmp_path: Path):
    args = story('keyboard.remember("first thing")', 'keyboard.remember("  ")', "await line()")
    async with terminal(args, environ(), tmp_path) as there:
        await there.until("› ")
        there.type("\x1b[A\r")
        await there.until("got 'first thing'")
        assert await there.end() == 0
    async with terminal(story("await line()"), environ(), tmp_path) as there:
        await there.until("› ")
        there.type("\x1b[A!\r")
        await there.until("got 'first thing!'")
        assert await there.end() == 0
    history = tmp_path / "history"
    assert (history.read_text(), history.stat().st_mode & 0o777) == ("first thing\n", 0o600)


async def test_what_is_typed_in_no_known_encoding_does_not_end_the_chat(tmp_path: Path):
    async with terminal(story("await line()"), environ(), tmp_path) as there:
        await there.until("› ")
        os.write(there._fd, b"a\xff\xfeb\r")
        await there.until("got 'a")
        assert await there.end() == 0


async def test_a_terminal_that_can_do_nothing_is_sent_nothing_but_text(tmp_path: Path):
    args = story(
        "prompt = asyncio.create_task(line())", "await asyncio.sleep(0.3)", "keyboard.hide()", "keyboard.redraw()"
    )
    async with terminal(args, environ("dumb"), tmp_path) as there:
        await there.until("› ")
        there.type("half")
        await there.until("› half")
        assert await there.end() == 0
        assert "\x1b" not in there.written
