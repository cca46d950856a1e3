"""Settings about where and how a session works reach the part that keeps to them."""

import pytest

from hermes.app import Wish
from hermes.app.world import LocalWorld
from tests.commands.surface import person
from tests.services.model_server import ModelServer
from tests.services.script import Reply


@pytest.mark.parametrize("sandbox", ["auto", "off"])
async def test_the_settings_say_how_much_a_command_may_print(tmp_path, sandbox):
    settings = f"tool_output: {{max_bytes: 1000}}\nterminal: {{sandbox: {sandbox}}}\n"
    async with person(tmp_path, settings=settings) as me:
        assert isinstance(me.session.world, LocalWorld)
        ran = await me.session.world.terminal.run("head -c 3000 /dev/zero | tr '\\0' x", timeout=20)
        assert (ran.omitted, ran.output.count("x")) == (2000, 1000)


@pytest.mark.parametrize(("settings", "is_swept"), [("", True), ("checkpoints: {auto_prune: false}\n", False)])
async def test_old_checkpoints_are_thrown_away_unless_the_settings_say_no(tmp_path, settings, is_swept):
    async with person(tmp_path, settings=settings) as me:
        assert isinstance(me.session.world, LocalWorld) and me.session.world.checkpoints
        await me.session.world.checkpoints.before_change(str(tmp_path / "work"), "turn")
    assert (tmp_path / "home" / "checkpoints" / "store").is_dir()
    assert (tmp_path / "home" / "checkpoints" / "store" / "swept").exists() is is_swept


@pytest.mark.parametrize(("settings", "condenses"), [("", True), ("compression: {enabled: false}\n", False)])
async def test_the_settings_say_whether_a_session_is_condensed_by_itself(tmp_path, settings, condenses):
    async with person(tmp_path, settings=settings) as me:
        assert me.session.options.condenses is condenses


@pytest.mark.parametrize(
    ("settings", "mark"),
    [
        ("", {"type": "ephemeral"}),
        ("prompt_caching: {cache_ttl: 1h}\n", {"type": "ephemeral", "ttl": "1h"}),
    ],
)
async def test_the_settings_say_how_long_a_prompt_stays_cached(tmp_path, settings, mark):
    async with ModelServer([Reply("Hello.")]) as server:
        own = f"custom_providers: {{mine: {{base_url: {server.base_url}, dialect: anthropic}}}}\n"
        async with person(tmp_path, settings=own + settings) as me:
            me.session.model = me.app.model(me.app.choice(Wish(model="mine:claude")))
            await me.stage.say("hello")
        [request] = server.requests
        assert request.body["system"][-1]["cache_control"] == mark
