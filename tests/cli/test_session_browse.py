"""`hermes sessions browse`: the chosen session goes on where it was."""

from pathlib import Path

from tests.cli.command import Hermes, Ran
from tests.cli.stories import store_story, story
from tests.cli.terminal import terminal
from tests.services.model_server import ModelServer
from tests.services.script import Reply


def test_without_a_terminal_it_names_the_list(tmp_path: Path) -> None:
    assert Hermes(tmp_path)("sessions", "browse") == Ran(
        2,
        "",
        "hermes: there is no terminal to choose in"
        " (hermes sessions list shows them, hermes --resume SESSION opens one)\n",
    )


def test_a_home_without_sessions_says_so(tmp_path: Path) -> None:
    ran = Hermes(tmp_path).terminal("sessions", "browse", TERM="xterm")
    assert ran == Ran(0, "hermes: there are no sessions yet (hermes starts one)\n")


async def test_the_session_that_is_found_by_typing_is_gone_on_with(tmp_path: Path) -> None:
    async with ModelServer([Reply("Of course I know.")]) as server:
        await choose_by_typing(tmp_path, server)


async def choose_by_typing(tmp_path: Path, server: ModelServer) -> None:
    hermes = Hermes(tmp_path)
    hermes.write_config(f"model: {{provider: custom, name: echo, base_url: {server.base_url}}}\n")
    await store_story(hermes.home, "s-one", story("What does a.txt say?"))
    await store_story(hermes.home, "s-two", story("A cake for Ada"), began=1_790_009_000.0)
    environ = hermes.environ | {"TERM": "xterm"}
    async with terminal(
        ["-m", "hermes", "--cli", "-m", "custom:echo", "sessions", "browse"], environ, tmp_path
    ) as there:
        await there.until("What does a.txt say?")
        there.type("a.txt")
        await there.until("session: a.txt")
        there.type("\r")
        await there.until("It says hello.")
        await there.until("› ")
        await there.say("Do you remember?", "Of course I know.", "› ")
        await there.say("/quit", "s-one")
        assert await there.end() == 0
    listed = (await hermes.beside("sessions", "list")).out.splitlines()
    assert [line.split("\t")[0] for line in listed] == ["s-one", "s-two"]


async def test_whoever_leaves_the_list_opens_nothing(tmp_path: Path) -> None:
    hermes = Hermes(tmp_path)
    await store_story(hermes.home, "s-one", story())
    async with terminal(["-m", "hermes", "sessions", "browse"], hermes.environ | {"TERM": "xterm"}, tmp_path) as there:
        await there.until("Escape leaves")
        there.type("\x1b")
        await there.until("nothing was chosen")
        assert await there.end() == 1
