"""What is offered behind a command."""

from hermes.commands.registry import Completion
from tests.agent.stage import ScriptedModel
from tests.commands.surface import Person, person


async def offered(me: Person, name: str, argument: str = "") -> list[Completion]:
    return await me.registry.find(name, "terminal").complete(me, argument)


async def test_other_sessions_are_offered_by_title(tmp_path):
    async with person(tmp_path, ScriptedModel()) as first:
        await first.stage.say("the garden")
    async with person(tmp_path, ScriptedModel()) as me:
        await me.stage.say("the kitchen")
        assert await offered(me, "resume") == [Completion(text="the garden", help="2 messages, cli")]


async def test_models_are_offered_of_providers_that_can_be_called_and_aliases_first(tmp_path):
    async with person(tmp_path, settings="model_aliases: {fast: openai:gpt-5-mini}\n") as me:
        texts = [each.text for each in await offered(me, "model")]
        assert texts[0] == "fast"
        assert not [text for text in texts if text.startswith("openai:")]
        (tmp_path / "home" / ".env").write_text("OPENAI_API_KEY=sk-x\n")
        await me.app.reload()
        assert [each.text for each in await offered(me, "model") if each.text.startswith("openai:")]


async def test_toolsets_and_tools_are_offered_for_the_last_word(tmp_path):
    async with person(tmp_path) as me:
        assert [each.text for each in await offered(me, "tools")] == ["list", "enable ", "disable "]
        found = {each.text: each.start for each in await offered(me, "tools", "enable todo, cl")}
        assert (found["clarify"], found["read_file"], "*" in found) == (13, 13, False)
        assert [each.text for each in await offered(me, "toolsets", "")] == [
            each.text for each in await offered(me, "toolsets", "file ")
        ]


async def test_help_offers_the_commands_of_the_surface(tmp_path):
    async with person(tmp_path) as me:
        texts = [each.text for each in await offered(me, "help")]
        assert texts == [command.name for command in me.registry.on("terminal")]
