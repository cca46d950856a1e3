"""@-references in what is asked on the command line, through a pipe and in the line chat."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.cli.command import Hermes
from tests.cli.terminal import terminal
from tests.services.model_server import ModelServer
from tests.services.script import Reply

QUOTED = "what is @file:a.txt?\n@file:a.txt:\n```txt\nthe content\n```"


class Desk:
    """The command, a folder with a file in it, and a model that answers once."""

    def __init__(self, folder: Path, server: ModelServer) -> None:
        self.hermes, self.server = Hermes(folder), server
        self.hermes.write_config(f"model: {{provider: custom, name: echo, base_url: {server.base_url}}}\n")
        (folder / "a.txt").write_text("the content\n")


@pytest.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    async with ModelServer([Reply("Understood.")]) as server:
        yield Desk(tmp_path, server)
    assert server.violations == []


async def test_a_question_on_the_command_line_quotes_a_file(desk: Desk):
    ran = await asyncio.to_thread(desk.hermes.process, "-z", "what is @file:a.txt?")
    assert (ran.code, ran.out, desk.server.last.user_text) == (0, "Understood.\n", QUOTED)


async def test_what_cannot_be_quoted_is_told_on_stderr_and_the_question_is_asked(desk: Desk):
    ran = await asyncio.to_thread(desk.hermes.process, "-z", "what is @file:gone?")
    assert (ran.code, ran.err) == (0, "hermes: @file:gone is not quoted: it is not there (check the path)\n")
    assert desk.server.last.user_text == "what is @file:gone?\n[@file:gone is not quoted: it is not there]"


async def test_a_line_of_a_pipe_quotes_a_file(desk: Desk):
    ran = await asyncio.to_thread(desk.hermes.process, stdin="what is @file:a.txt?\n")
    assert (ran.code, desk.server.last.user_text) == (0, QUOTED)


async def test_a_line_of_the_chat_quotes_a_file(desk: Desk):
    folder = Path(desk.hermes.environ["HOME"])
    async with terminal(["-m", "hermes", "--cli"], desk.hermes.environ | {"TERM": "xterm"}, folder) as there:
        await there.until("› ")
        await there.say("what is @file:a.txt?", "Understood.", "› ")
        there.type("\x04")
        assert await there.end() == 0
    assert desk.server.last.user_text == QUOTED
