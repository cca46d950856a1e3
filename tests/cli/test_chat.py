"""`hermes chat`: what a start does to the home, and what a start that fails leaves behind."""

import asyncio
from pathlib import Path

from hermes.agent.prompt import IDENTITY
from tests.cli.command import Hermes, Ran
from tests.cli.terminal import terminal
from tests.services.model_server import ModelServer
from tests.services.script import Reply


async def ran(hermes: Hermes, *args: str) -> Ran:
    """A program of its own, beside the server in this one."""
    return await asyncio.to_thread(hermes.process, *args)


def pointed(folder: Path, server: ModelServer) -> Hermes:
    hermes = Hermes(folder)
    hermes.write_config(f"model: {{provider: custom, name: echo, base_url: {server.base_url}}}\n")
    return hermes


async def test_a_question_that_fails_before_a_word_is_said_leaves_no_session(tmp_path: Path) -> None:
    async with ModelServer([Reply("Hello.")]) as server:
        hermes = pointed(tmp_path, server)
        missing = tmp_path / "none.png"
        failed = await ran(hermes, "chat", "-q", "what is this?", "--image", str(missing))
        assert failed == Ran(2, "", f"hermes: cannot read {missing}: No such file or directory (check the path)\n")
        assert (await ran(hermes, "sessions", "list")).out == ""
        assert (await ran(hermes, "-z", "hello")).out == "Hello.\n"
        [row] = (await ran(hermes, "sessions", "list")).out.splitlines()
        again = await ran(hermes, "-r", row.split("\t")[0], "chat", "-q", "and this?", "--image", str(missing))
        assert again.code == 2
        assert len((await ran(hermes, "sessions", "list")).out.splitlines()) == 1
        assert len(server.requests) == 1


async def test_the_first_talk_gives_the_home_its_soul_and_no_later_one_does(tmp_path: Path) -> None:
    async with ModelServer([Reply("Hello."), Reply("Again.")]) as server:
        hermes = pointed(tmp_path, server)
        environ, soul = hermes.environ | {"TERM": "xterm"}, hermes.home / "SOUL.md"
        async with terminal(["-m", "hermes", "--cli"], environ, tmp_path) as there:
            await there.until("› ")
            assert soul.read_text() == f"{IDENTITY}\n"
            await there.say("hello", "Hello.", "› ")
            await there.say("/quit")
            assert await there.end() == 0
        soul.unlink()
        async with terminal(["-m", "hermes", "--cli"], environ, tmp_path) as there:
            await there.until("› ")
            await there.say("/quit")
            assert await there.end() == 0
        assert not soul.exists()


async def test_what_is_typed_while_the_screen_starts_is_kept_letter_by_letter(tmp_path: Path) -> None:
    async with ModelServer([Reply("Hello.")]) as server:
        hermes = pointed(tmp_path, server)
        async with terminal(["-m", "hermes"], hermes.environ | {"TERM": "xterm-256color"}, tmp_path) as there:
            there.type("is this kept?")
            await there.until("0/128k")
            await there.say("", "Hello.")
            there.type("\x04")
            assert await there.end() == 0
    assert server.last.user_text == "is this kept?"


async def test_a_single_question_changes_nothing_in_the_home_but_its_sessions(tmp_path: Path) -> None:
    async with ModelServer([Reply("Hello.")]) as server:
        hermes = pointed(tmp_path, server)
        assert (await ran(hermes, "-z", "hello")).code == 0
        assert not (hermes.home / "SOUL.md").exists()
