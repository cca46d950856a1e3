"""Commands of the person's own: run in the session's terminal through the gate, or another name for a command."""

import asyncio

from hermes.commands.registry import Outcome
from hermes.protocol.events import Asked
from hermes.protocol.ops import Answer, Configure
from tests.agent.stage import ScriptedModel
from tests.commands.surface import person

SETTINGS = """\
quick_commands:
  Hello: {type: exec, command: "echo hello; pwd"}
  quiet: {type: exec, command: "true"}
  fails: {type: exec, command: "exit 3"}
  drop: {type: exec, command: "touch x && chmod 666 x", help: make a file for everybody}
  gone: {type: exec, command: "rm -rf /"}
  hi: {type: alias, target: /title a greeting}
  two: {type: alias, target: undo 2}
  lost: {type: alias, target: /titel}
  help: {type: alias, target: /quit}
"""


async def test_a_command_of_ones_own_runs_in_the_sessions_folder(tmp_path):
    async with person(tmp_path, settings=SETTINGS) as me:
        assert await me.types("/hello") == Outcome(reply=f"```text\nhello\n{tmp_path}/work\n```")
        assert await me.reply("/quiet") == "Done, without a word."
        assert await me.reply("/fails") == "Exit code 3."
        assert await me.reply("/hello you") == "/hello takes nothing behind it (it runs as it stands in quick_commands)"
        assert await me.reply("/help hello") == "`/hello`: run echo hello; pwd"
        assert await me.reply("/help drop") == "`/drop`: make a file for everybody"


async def test_a_dangerous_one_asks_like_any_other_and_the_worst_never_runs(tmp_path):
    async with person(tmp_path, settings=SETTINGS) as me:
        for choice, there in (("deny", False), ("once", True)):
            running = asyncio.create_task(me.reply("/drop"))
            *_, asked = await me.until(Asked, 1 + there)
            await me.session.send(Answer(request_id=asked.request_id, choice=choice))
            said = await running
            assert (tmp_path / "work" / "x").exists() is there
            assert said == ("Done, without a word." if there else "person said no")
        assert (await me.reply("/gone")).startswith("Blocked by the rule ")


async def test_another_name_does_what_its_target_does_with_what_follows(tmp_path):
    async with person(tmp_path, ScriptedModel(), settings=SETTINGS) as me:
        [op] = (await me.types("/hi to all")).ops
        assert isinstance(op, Configure)
        assert op.title == "a greeting to all"
        typed = me.registry.read("/two", "terminal")
        assert typed is not None
        assert typed.question == "Take back the last 2 exchanges?"


async def test_a_target_that_is_not_there_is_told_and_a_built_in_command_cannot_be_replaced(tmp_path):
    async with person(tmp_path, settings=SETTINGS) as me:
        assert (
            await me.reply("/lost") == "quick_commands.lost.target: there is no command /titel (did you mean /title?)"
        )
        assert (await me.reply("/help")).endswith("The beginning of a name is enough.")
