"""The version, the profile, and settings that are read anew."""

import hermes
from hermes import config
from hermes.app import App
from hermes.commands.registry import Outcome
from hermes.protocol.ops import Configure
from tests.commands.surface import person


async def test_version_and_profile_tell_which_hermes_this_is(tmp_path):
    async with person(tmp_path) as me:
        assert await me.reply("/v") == f"Hermes {hermes.__version__}"
        assert await me.reply("/whoami") == "\n".join(
            ("- profile: default", f"- home: `{tmp_path}/home`", f"- session: `{me.session.id}`, from cli")
        )


async def test_reload_reads_settings_and_keys_anew_and_names_what_changed_but_no_secret(tmp_path):
    async with person(tmp_path) as me:
        assert await me.types("/reload") == Outcome(
            reply="The settings are as they were. `/reload-mcp` is for MCP servers."
        )
        home = tmp_path / "home"
        with (home / "config.yaml").open("a") as file:
            file.write("agent: {max_turns: 7}\n")
        assert (await me.reply("/reload")).startswith("Read anew: `agent.max_turns`. ")
        assert me.app.settings.file.agent.max_turns == 7
        (home / ".env").write_text("OPENAI_API_KEY=sk-very-secret\n")
        outcome = await me.types("/reload")
        assert outcome.reply.startswith("Read anew: `OPENAI_API_KEY`. ")
        assert "sk-very-secret" not in outcome.reply
        [op] = outcome.ops
        assert isinstance(op, Configure)
        assert op.model == "custom:echo"
        assert (await me.types("/model openai:gpt-5")).ops != ()


async def test_broken_settings_are_told_in_one_line_and_change_nothing(tmp_path):
    async with person(tmp_path) as me:
        before = me.app.settings
        (tmp_path / "home" / "config.yaml").write_text("agent: {max_turns: many}\n")
        assert "agent.max_turns" in await me.reply("/reload")
        assert me.app.settings is before


async def test_reload_stays_in_its_home_and_names_nothing_that_is_as_it_was(tmp_path):
    home = tmp_path / ".hermes"
    home.mkdir()
    (home / "config.yaml").write_text("timezone: Europe/Berlin\n")
    async with App(config.load({"HOME": str(tmp_path)})) as app:
        before = app.settings
        await app.reload()
        assert app.settings == before
