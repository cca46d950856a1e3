"""Help, and what the screen is told to do."""

from hermes.commands.builtin import BUILTIN
from hermes.commands.registry import Outcome, Screen
from tests.commands.surface import person


async def test_help_lists_every_command_of_the_surface(tmp_path):
    async with person(tmp_path) as me:
        lines = (await me.reply("/help")).splitlines()
        assert len(lines) == len(BUILTIN) + 1
        assert "- `/undo [N]`: take back the last exchange, or the last N" in lines
        me.surface = "chat"
        assert not [line for line in (await me.reply("/help")).splitlines() if "/quit" in line]


async def test_help_tells_about_one_command(tmp_path):
    async with person(tmp_path) as me:
        line = "`/quit` (also `/exit`): leave; the session can be resumed"
        assert [await me.reply(f"/help {name}") for name in ("quit", "/exit", "qui")] == [line] * 3
        assert await me.reply("/help qit") == "there is no command /qit (did you mean /quit?)"


async def test_clear_and_quit_are_for_the_screen_to_do(tmp_path):
    async with person(tmp_path) as me:
        assert await me.types("/clear now") == Outcome(screen=Screen("clear"))
        assert await me.types("/exit") == Outcome(screen=Screen("quit"))
