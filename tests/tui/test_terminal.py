"""The full screen in a real terminal (tmux), as the command starts it."""

import asyncio
import os
import re
import signal
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from hermes.store.sqlite import SqliteStore
from hermes.tui.dialog import EARLY
from tests.services.model_server import ModelServer
from tests.services.script import Reply, call
from tests.tui.tmux import Tmux, tmux

pytestmark = pytest.mark.needs("tmux")
HERMES = (sys.executable, "-m", "hermes")


@asynccontextmanager
async def terminal(folder: Path, script: Sequence[Reply], **more: str) -> AsyncIterator[tuple[Tmux, ModelServer]]:
    home, work = folder / "home", folder / "work"
    home.mkdir(exist_ok=True)
    work.mkdir(exist_ok=True)
    environ = {"HERMES_HOME": str(home), "HOME": str(folder), "PATH": os.environ["PATH"], "LANG": "C.UTF-8", **more}
    async with ModelServer(list(script)) as server, tmux(environ, work) as there:
        model = f"model: {{provider: custom, name: echo, base_url: {server.base_url}}}\n"
        (home / "config.yaml").write_text(model)
        yield there, server
    assert server.violations == []


def said(server: ModelServer) -> list[str]:
    return [message["content"] for message in server.last.body["messages"] if message["role"] == "user"]


async def test_a_day_at_the_terminal(tmp_path):
    script = [
        Reply("Two lines, I see."),
        call("terminal", command="touch made && chmod 666 made"),
        Reply("It is made."),
        Reply("on and on ", endless=True),
        Reply("Something else, then."),
        Reply("Here again."),
    ]
    async with terminal(tmp_path, script) as (there, server):
        await there.start(HERMES)
        await there.until("☤ Hermes", "custom:echo", "╭──")

        await there.types("first line")
        await there.keys("M-Enter")
        await there.types("second line")
        await there.keys("Enter")
        await there.until("› first line", "  second line", "Two lines, I see.")
        assert said(server) == ["first line\nsecond line"]

        await there.types("/stat")
        await there.until("/status", "show the session")
        await there.keys("Tab")
        await there.keys("Enter")
        await there.until("┃ • model: custom:echo")

        await there.types("make it")
        await there.keys("Enter")
        await there.until("May I run in", "touch made && chmod 666 made", "o  yes, once")
        await asyncio.sleep(2 * EARLY)
        await there.types("o")
        await there.until("→ once", "It is made.")
        assert (tmp_path / "work" / "made").exists()

        await there.types("go on")
        await there.keys("Enter")
        await there.until("on and on on and on", "Esc interrupts")
        await there.types("rather something else")
        await there.keys("Enter")
        await there.until("■ interrupted", "› rather something else", "Something else, then.")
        assert said(server)[-2:] == ["go on", "rather something else"]

        async with SqliteStore(tmp_path / "home" / "state.db") as store:
            (row,) = await store.sessions()
        await there.signal(signal.SIGKILL)
        await there.until("ended with 137")

    async with terminal(tmp_path, [Reply("Here again.")]) as (there, server):
        await there.start((*HERMES, "--resume", row.id))
        await there.until("You: rather something else", "Hermes: Something else, then.")
        await there.types("and now?")
        await there.keys("Enter")
        await there.until("Here again.")
        assert said(server)[0] == "first line\nsecond line"
        await there.keys("C-d")
        await there.until(f"To go on: hermes --resume {row.id}", "ended with 0")


async def test_a_turn_is_interrupted_and_two_more_keys_leave(tmp_path):
    async with terminal(tmp_path, [Reply("on and on ", endless=True)]) as (there, _):
        await there.start(HERMES)
        await there.until("╭──")
        await there.types("go")
        await there.keys("Enter")
        await there.until("on and on on and on")
        await there.keys("C-c")
        await there.until("■ interrupted")
        await there.keys("C-c")
        await there.keys("C-c")
        await there.until("ended with 0")


GREY = {16, 59, 102, 145, 188, 231, *range(232, 256)}
"""Those of the 256 colours of a terminal that are black, white or between."""


def is_grey(style: str) -> bool:
    """Whether a style sets no colour, or a shade of grey: white and black are 30, 37, 90 and 97, for the ground 10 more."""
    if indexed := re.fullmatch(r"[34]8;5;(\d+)", style):
        return int(indexed[1]) in GREY
    return not re.search(r"\b(3|4|9|10)[1-6]\b|[34]8;2", style)


def is_one_of_16(style: str) -> bool:
    return not re.match(r"[34]8;", style)


@pytest.mark.parametrize(
    ("environ", "allowed"),
    [({"NO_COLOR": "1"}, is_grey), ({"TEXTUAL_COLOR_SYSTEM": "standard"}, is_one_of_16)],
    ids=["without colour", "with 16 colours"],
)
async def test_it_works_with_few_colours_and_few_columns(tmp_path, environ, allowed):
    async with terminal(tmp_path, [call("write_file", path="a.txt", content="x\n"), Reply("**done**")]) as (there, _):
        words = ("env", *(f"{key}={value}" for key, value in environ.items()), *HERMES)
        await there.start(words, columns=60, rows=20)
        await there.until("☤ Hermes", "╭──")
        await there.types("write")
        await there.keys("Enter")
        await there.until("● write_file  a.txt  +1 -0", "+x", "done", "custom:echo │ ")
        styles = set(re.findall(r"\x1b\[([\d;]+)m", await there.coloured()))
        assert len(styles) > 3
        assert [style for style in styles if not allowed(style)] == []


async def test_a_wrong_session_is_told_after_the_screen_is_gone(tmp_path):
    async with terminal(tmp_path, []) as (there, _):
        await there.start((*HERMES, "--resume", "nothing"))
        await there.until("hermes: there is no session 'nothing'", "ended with 2")


async def test_what_is_logged_does_not_tear_the_screen(tmp_path):
    async with terminal(tmp_path, [Reply("hello")]) as (there, _):
        await there.start((*HERMES, "-v"))
        await there.until("╭──", "custom:echo")
        await there.types("hi")
        await there.keys("Enter")
        seen = await there.until("hello")
        assert "INFO" not in seen
        assert "INFO" in (tmp_path / "home" / "logs" / "agent.log").read_text()


async def test_a_dumb_terminal_gets_plain_lines(tmp_path):
    async with terminal(tmp_path, [Reply("plain")]) as (there, _):
        await there.start(("env", "TERM=dumb", *HERMES))
        await there.until("/help lists the commands", "›")
        await there.types("hi")
        await there.keys("Enter")
        seen = await there.until("plain")
        assert "╭" not in seen


async def test_sigterm_closes_the_session_in_good_order(tmp_path):
    async with terminal(tmp_path, [Reply("hello")]) as (there, _):
        await there.start(HERMES)
        await there.until("╭──")
        await there.types("hi")
        await there.keys("Enter")
        await there.until("hello")
        await there.signal(signal.SIGTERM)
        await there.until("To go on: hermes --resume", "ended with 130")


async def test_ctrl_z_suspends_and_fg_comes_back(tmp_path):
    async with terminal(tmp_path, [Reply("hello")]) as (there, _):
        await there.start(("bash", "--norc", "-i"))
        await there.types(" ".join(HERMES))
        await there.keys("Enter")
        await there.until("╭──", "custom:echo")
        await there.keys("C-z")
        await there.until("Stopped")
        await there.types("fg")
        await there.keys("Enter")
        await there.until("╭──", "custom:echo")
        await there.types("hi")
        await there.keys("Enter")
        await there.until("hello")
