"""What stdin holds: the question itself, or what belongs to it, as in `cat report.txt | hermes -z "what is this?"`."""

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes.cli.attached import attached
from hermes.protocol.items import UserMessage
from tests.cli.command import Ran
from tests.services.model_server import ModelServer
from tests.stories.stage import Home, ended, items_in, stored

QUESTION = "what is this?"
QUOTED = f"{QUESTION}\nstdin:\n```\nthe content\n```"


@pytest.fixture
async def server() -> AsyncIterator[ModelServer]:
    async with ModelServer() as server:
        yield server
    assert server.violations == []


@pytest.fixture
def home(tmp_path: Path, server: ModelServer) -> Home:
    home = Home(tmp_path)
    home.use(server.base_url)
    return home


@pytest.mark.parametrize("args", [("-z", QUESTION), ("chat", "-Q", "-q", QUESTION)])
async def test_a_piped_text_goes_along_with_the_question(home: Home, args: tuple[str, ...]) -> None:
    ran = await asyncio.to_thread(home.ask, *args, stdin="the content\n")
    assert ran == Ran(0, f"{QUOTED}\n", "")


async def test_a_file_on_stdin_goes_along_too(home: Home, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("the content\n")
    with (tmp_path / "a.txt").open() as file:
        assert await ended(home.start("-z", QUESTION, stdin=file.fileno())) == Ran(0, f"{QUOTED}\n", "")


async def test_a_loop_over_the_lines_of_a_file_keeps_its_lines(home: Home) -> None:
    (home.work / "a.txt").write_text("one\ntwo\nthree\n")
    script = 'while read -r line; do "$@" -z "$line"; done <a.txt'
    assert await asyncio.to_thread(home.shell, script) == Ran(0, "one\ntwo\nthree\n", "")


async def test_a_pipe_that_holds_nothing_changes_nothing(home: Home) -> None:
    ran = await asyncio.to_thread(home.ask, "-z", QUESTION, stdin=" \n")
    assert ran == Ran(0, f"{QUESTION}\n", "")


async def test_a_text_that_comes_late_is_waited_for(home: Home) -> None:
    ours, theirs = os.pipe()
    child = home.start("-z", QUESTION, stdin=ours)
    os.close(ours)
    await asyncio.sleep(0.5)
    os.write(theirs, b"the ")
    await asyncio.sleep(0.2)
    os.write(theirs, b"content\n")
    os.close(theirs)
    assert await ended(child) == Ran(0, f"{QUOTED}\n", "")


async def test_a_pipe_that_stays_silent_is_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    ours, theirs = os.pipe()
    with os.fdopen(ours) as pipe:
        monkeypatch.setattr(sys, "stdin", pipe)
        assert await asyncio.wait_for(attached(patience=0.1), 5) == ""
    os.close(theirs)
    assert capsys.readouterr().err == (
        "hermes: nothing came through the pipe in 0.1 s: the question goes without it (with </dev/null it goes at once)\n"
    )


async def test_another_program_of_the_pipeline_may_take_its_time(home: Home) -> None:
    ran = await asyncio.to_thread(home.shell, f'(sleep 3.5; echo "the content") | "$@" -z "{QUESTION}"')
    assert ran == Ran(0, f"{QUOTED}\n", "hermes: waiting for what comes through the pipe (Ctrl+C ends it)\n")


@pytest.mark.parametrize("question", [QUESTION, "-"])
async def test_ctrl_c_leaves_while_a_pipe_is_read(home: Home, server: ModelServer, question: str) -> None:
    ours, theirs = os.pipe()
    child = home.start("-z", question, stdin=ours)
    os.close(ours)
    os.write(theirs, b"the ")
    await asyncio.sleep(1.0)
    child.send_signal(signal.SIGINT)
    assert (await asyncio.wait_for(ended(child), 5)).code == 130
    os.close(theirs)
    assert server.requests == []


async def test_a_question_on_stdin_may_hold_bytes_that_are_no_text(home: Home) -> None:
    ran = await asyncio.to_thread(home.shell, "printf 'caf\\351' | PYTHONIOENCODING=utf-8:strict \"$@\" -z -")
    assert ran == Ran(0, "caf\ufffd\n", "")


async def test_a_piped_text_that_fills_half_of_the_window_is_refused(home: Home, server: ModelServer) -> None:
    ran = await asyncio.to_thread(home.ask, "-z", QUESTION, stdin="x" * 300_000)
    assert (ran.code, ran.out, server.requests) == (2, "", [])
    assert ran.err == (
        "hermes: the piped text holds about 75,000 tokens, over half of the model's 128,000 (save it as a file in this "
        "folder and name it in the question: the model reads what it needs)\n"
    )


async def test_nobody_vouches_for_what_is_piped_in(home: Home) -> None:
    assert (await asyncio.to_thread(home.ask, "-z", QUESTION, stdin="the content\n")).code == 0
    [said] = items_in([event.body for event in await stored(home)], UserMessage)
    assert (said.source, said.trust) == ("stdin", "untrusted")
