"""Commands about how a session works, each against a real session."""

from hermes.app.world import LocalWorld
from hermes.commands.registry import Outcome
from hermes.protocol.events import Changed
from hermes.protocol.ops import Configure
from hermes.tools.toolsets import SKILLS
from tests.commands.surface import person


async def test_model_tells_and_changes_what_answers(tmp_path):
    async with person(tmp_path) as me:
        told = "Model: `custom:{}`, window 128,000 tokens. `/model NAME` changes it here."
        changed = "Model: `custom:other` from the next step on. `/model other --global` keeps it for every new session."
        assert await me.reply("/model") == told.format("echo")
        assert await me.reply("/model other") == changed
        await me.stage.until(lambda: me.session.model.name == "custom:other")
        assert await me.reply("/model") == told.format("other")


async def test_a_model_that_is_not_there_changes_nothing(tmp_path):
    async with person(tmp_path) as me:
        outcome = await me.types("/model openai:gpt-5")
        assert "OPENAI_API_KEY is not set" in outcome.reply
        assert outcome.ops == ()


async def test_the_provider_of_a_model_may_be_a_flag_and_what_is_no_model_is_refused(tmp_path):
    async with person(tmp_path) as me:
        for typed in ("/model other --provider custom", "/model --provider custom other --session"):
            [op] = (await me.types(typed)).ops
            assert op == Configure(model="custom:other", id=op.id)
        assert "OPENAI_API_KEY is not set" in await me.reply("/model --provider openai")
        for typed in ("--refresh", "other --provider", "two words"):
            told = f"{typed!r} is not the name of a model (/model PROVIDER:NAME [--global])"
            assert await me.types(f"/model {typed}") == Outcome(reply=told)


async def test_yolo_turns_questions_off_and_on(tmp_path):
    async with person(tmp_path) as me:
        world = me.session.world
        assert isinstance(world, LocalWorld)
        for command, mode in (("/yolo", "off"), ("/yolo on", "off"), ("/yolo", "manual"), ("/yolo off", "manual")):
            [op] = (await me.types(command)).ops
            assert isinstance(op, Configure)
            await me.stage.until(lambda op=op: Changed("config", config=op) in me.stage.bodies)
            assert world.gate.policy.mode == mode
        assert await me.reply("/yolo maybe") == "'maybe' is neither on nor off (/yolo, /yolo on or /yolo off)"


async def test_tools_lists_them_by_toolset(tmp_path):
    async with person(tmp_path) as me:
        lines = (await me.reply("/tools")).splitlines()
        shown = [line.partition(": ")[0] for line in lines]
        assert shown == [
            *("**file**", "- `read_file`", "- `write_file`", "- `patch`", "- `search_files`", ""),
            *("**terminal**", "- `terminal`", "- `process`", ""),
            *("**todo**", "- `todo`", ""),
            *("**clarify**", "- `clarify`", ""),
            *("**memory**", "- `memory`", ""),
            *("**session_search**", "- `session_search`", ""),
            *("**context**", "- `context_expand`", "- `context_grep`", ""),
            *("**skills**", "- `skills_list`", "- `skill_search`", "- `skill_view`", "- `skill_manage`"),
        ]
        assert "- `terminal`: Run a bash command" in lines


async def test_toolsets_lists_them_and_chooses(tmp_path):
    async with person(tmp_path) as me:
        assert "- `todo` (in use): todo" in (await me.reply("/toolsets")).splitlines()
        assert await me.reply("/toolsets todo, clarify") == "Tools from the next step on: todo, clarify"
        await me.stage.until(lambda: list(me.session.tools) == ["todo", "clarify"])
        assert "- `file`: read_file, write_file, patch, search_files" in (await me.reply("/toolsets")).splitlines()
        outcome = await me.types("/toolsets tood")
        assert (outcome.ops, "Did you mean todo?" in outcome.reply) == ((), True)


async def test_config_tells_where_the_settings_are(tmp_path):
    async with person(tmp_path) as me:
        lines = (await me.reply("/config")).splitlines()
        assert lines[0] == f"Settings: `{tmp_path}/home/config.yaml`"
        assert {"- `model`: custom:echo", "- `approvals.mode`: manual", "- `checkpoints.enabled`: true"} <= set(lines)


async def test_global_keeps_the_model_for_every_new_session_as_it_is_written_there(tmp_path):
    async with person(tmp_path) as me:
        said = await me.reply("/model other --global")
        assert said == "Model: `custom:other` from the next step on. It is kept for every new session."
        assert me.app.settings.model.name == "other"
        assert "provider: custom, name: other, base_url:" in (tmp_path / "home" / "config.yaml").read_text()
        assert "`/model third --global`" in await me.reply("/model third --session")
        assert me.app.settings.model.name == "other"


async def test_tools_are_enabled_and_disabled_for_this_session(tmp_path):
    async with person(tmp_path) as me:
        others = "clarify, memory, session_search, context_expand, context_grep, " + ", ".join(SKILLS)
        assert await me.reply("/tools disable terminal, todo") == (
            f"Tools from the next step on: read_file, write_file, patch, search_files, {others}"
        )
        await me.stage.until(lambda: "terminal" not in me.session.tools)
        assert await me.reply("/tools enable todo") == (
            f"Tools from the next step on: read_file, write_file, patch, search_files, todo, {others}"
        )
        await me.stage.until(lambda: "todo" in me.session.tools)
        assert await me.reply("/tools enable todo") == "Nothing to change: todo was there already."
        assert await me.reply("/tools list") == await me.reply("/tools")


async def test_a_wrong_word_about_tools_changes_nothing(tmp_path):
    async with person(tmp_path) as me:
        for typed, said in (
            ("enable", "which tools should be enabled? (/tools enable NAME …, a tool or a toolset)"),
            ("remove todo", "tools can be listed, enabled and disabled, not 'remove' (/tools enable NAME …)"),
            ("disable all", "that would leave no tool at all (/toolsets safe has the harmless ones)"),
            ("disable tood", "There is no toolset 'tood'. (Did you mean todo?)"),
        ):
            outcome = await me.types(f"/tools {typed}")
            assert (outcome.reply, outcome.ops) == (said, ())
