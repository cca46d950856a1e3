"""Commands about MCP servers, with a real session and real servers."""

import asyncio
from pathlib import Path

import pytest

from hermes.commands.builtin import BUILTIN, ask_no_more
from hermes.commands.mcp import HOW_TO_ADD, _line
from hermes.commands.registry import Outcome, Registry
from hermes.mcp.chaos.faults import Fault
from hermes.mcp.chaos.server import ChaosServer
from hermes.mcp.contract import Status
from tests.agent.stage import ScriptedModel, answer
from tests.commands.surface import Person, person

NOWHERE = "http://127.0.0.1:9/mcp"


def rewrite(me: Person, servers: str) -> None:
    path = me.app.settings.config_path
    first = path.read_text().splitlines()[0]
    path.write_text(f"{first}\nmcp_servers: {{{servers}}}\nmcp: {{auto_reload_on_config_change: false}}\n")


async def test_without_servers_it_is_said_how_to_add_one(tmp_path: Path) -> None:
    async with person(tmp_path) as me:
        assert await me.types("/mcp") == Outcome(reply=HOW_TO_ADD)


async def test_reload_takes_in_what_the_settings_say_now_and_leaves_the_rest_alone(tmp_path: Path) -> None:
    async with ChaosServer() as one, ChaosServer() as two, person(tmp_path) as me:
        rewrite(me, f"one: {{url: {one.url}}}, two: {{url: {two.url}}}")
        assert await me.reply("/reload-mcp now") == (
            "MCP servers: added: `one`, `two`.\n- `one`: http, ready, 12 tools\n- `two`: http, ready, 12 tools"
        )
        rewrite(me, f"one: {{url: {one.url}}}, two: {{url: {two.url}, timeout: 5}}")
        assert (await me.reply("/reload-mcp -y")).startswith("MCP servers: started anew: `two`.\n")
        rewrite(me, f"one: {{url: {one.url}}}")
        assert await me.reply("/reload-mcp now") == "MCP servers: removed: `two`.\n- `one`: http, ready, 12 tools"
        assert await me.reply("/reload-mcp now") == (
            "The settings of MCP servers are as they were.\n- `one`: http, ready, 12 tools"
        )
        assert (one.counts.initializations, two.counts.initializations) == (1, 2)


async def test_settings_that_cannot_be_read_change_nothing(tmp_path: Path) -> None:
    async with ChaosServer() as one, person(tmp_path) as me:
        rewrite(me, f"one: {{url: {one.url}}}")
        await me.types("/reload-mcp now")
        rewrite(me, "one: {url: 5, timeout: soon}")
        assert "mcp_servers" in await me.reply("/reload-mcp now")
        assert await me.reply("/mcp") == "- `one`: http, ready, 12 tools"


async def test_reload_revives_a_server_that_was_given_up(tmp_path: Path) -> None:
    async with ChaosServer() as one, person(tmp_path) as me:
        await one.arm(Fault(kind="status", method="initialize", status=500, times=3))
        rewrite(me, f"one: {{url: {one.url}}}")
        await me.types("/reload-mcp now")
        server = me.app.connections.servers.get("one")
        assert server is not None
        async with asyncio.timeout(10):
            while server.status().state != "parked":
                await asyncio.sleep(0.01)
        assert await me.reply("/reload-mcp now") == (
            "The settings of MCP servers are as they were.\n- `one`: http, ready, 12 tools"
        )


async def test_a_reload_does_not_wait_for_ever_for_what_it_revives(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("hermes.commands.mcp.PATIENCE", 0.2)
    async with ChaosServer() as one, person(tmp_path) as me:
        await one.arm(Fault(kind="status", method="initialize", status=401))
        rewrite(me, f"one: {{url: {one.url}}}")
        assert ", needs_auth, 0 tools, " in await me.reply("/reload-mcp now")
        await one.arm(Fault(kind="silent", method="initialize"))
        assert ", connecting, 0 tools, " in await me.reply("/reload-mcp now")


async def test_tools_that_the_model_is_not_told_of_are_said_to_be_found_by_search(tmp_path: Path) -> None:
    async with ChaosServer() as one, person(tmp_path, ScriptedModel(answer("hi"))) as me:
        choice = "tools: {include: [echo]}"
        rewrite(me, f"one: {{url: {one.url}, {choice}}}")
        await me.types("/reload-mcp now")
        assert await me.reply("/mcp") == "- `one`: http, ready, 1 of 12 tools"
        await me.stage.say("hello")
        assert await me.reply("/mcp") == "- `one`: http, ready, 1 of 12 tools"
        rewrite(me, f"one: {{url: {one.url}}}, two: {{url: {one.url}, {choice}}}")
        await me.types("/reload-mcp now")
        two = (await me.reply("/mcp")).splitlines()[1]
        assert two == "- `two`: http, ready, 1 of 12 tools, found by tool_search"


def test_reload_asks_first_because_the_prompts_cache_is_lost() -> None:
    typed = Registry(BUILTIN).read("/reload-mcp", "chat")
    assert typed is not None
    assert typed.question.startswith("Read the settings of MCP servers anew?")


def test_what_is_unusual_about_a_server_is_in_its_line() -> None:
    usual = Status(name="git", transport="stdio", state="ready", breaker="closed", tools=1)
    assert _line(usual, 1, True) == "- `git`: stdio, ready, 1 tool"
    odd = Status(
        name="far",
        transport="http",
        state="backoff",
        breaker="open",
        tools=0,
        cooldown=41.7,
        restarts=2,
        latency=0.0123,
        last_error="no route\nto host",
    )
    assert _line(odd, 0, True) == (
        "- `far`: http, backoff, 0 tools, breaker open for 42 s, connected anew 2 times, 12 ms, last error: no route to host"
    )


async def test_a_reload_has_its_own_setting_for_its_question(tmp_path: Path) -> None:
    quick = "quick_commands: {again: {type: alias, target: /reload-mcp}}\n"
    async with person(tmp_path, settings=quick) as me:
        typed = me.registry.read("/reload-mcp", "terminal")
        assert typed is not None and typed.question.startswith("Read the settings of MCP servers anew?")
        await ask_no_more(me.app, typed.command)
        assert "mcp_reload_confirm: false" in me.app.settings.config_path.read_text()
        asked = [me.registry.read(text, "terminal") for text in ("/reload-mcp", "/again", "/undo")]
        assert [one and one.question for one in asked] == ["", "", "Take back the last exchange?"]
