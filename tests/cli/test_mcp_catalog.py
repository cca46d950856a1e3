"""Known MCP servers: listed, added by name, chosen from a list."""

from pathlib import Path

import pytest

from hermes import config
from hermes.cli.mcp_presets import PRESETS
from hermes.config import McpServer
from tests.cli.command import Hermes, Ran
from tests.cli.terminal import terminal


def servers(hermes: Hermes) -> dict[str, McpServer]:
    return config.load(hermes.environ).file.mcp_servers


def test_the_catalog_has_the_command_that_adds_each(hermes: Hermes) -> None:
    rows = [line.split("\t") for line in hermes("mcp", "catalog").out.splitlines()]
    assert [row[0] for row in rows] == list(PRESETS)
    assert rows[1] == ["fetch", "web pages as Markdown", "uv (uvx)", "hermes mcp install fetch"]
    hermes.write_config("mcp_servers: {fetch: {command: uvx}}\n")
    assert hermes("mcp", "catalog").out.splitlines()[1].endswith("\tadded")


@pytest.mark.parametrize("name", PRESETS)
def test_every_known_server_has_settings_that_fit(name: str) -> None:
    known = PRESETS[name]
    file = config.convert({"mcp_servers": {name: known.settings}}, {}, Path("config.yaml"))
    entry = file.mcp_servers[name]
    assert bool(entry.url) != bool(entry.command) and known.about and known.needs
    assert not entry.url or entry.url.startswith("https://")


def test_a_known_server_is_added_by_its_name(hermes: Hermes) -> None:
    ran = hermes("mcp", "install", "time", "--as", "clock", PATH="")
    assert (ran.code, ran.err.startswith("hermes: clock is added, but cannot be used yet: ")) == (1, True)
    assert servers(hermes) == {"clock": McpServer(command="uvx", args=("mcp-server-time",))}
    assert hermes("mcp", "install", "nothing").err.startswith("hermes: there is no preset 'nothing' (there is ")


def test_without_a_terminal_the_picker_names_the_catalog(hermes: Hermes) -> None:
    assert hermes("mcp", "picker") == Ran(
        2, "", "hermes: there is no terminal to choose in (hermes mcp catalog, then hermes mcp install NAME)\n"
    )


async def test_a_server_is_chosen_from_a_list(hermes: Hermes, tmp_path: Path) -> None:
    environ = hermes.environ | {"TERM": "xterm", "PATH": ""}
    async with terminal(["-m", "hermes", "mcp", "picker"], environ, tmp_path) as there:
        await there.until("Escape leaves")
        there.type("zones\r")
        await there.until("time is added, but cannot be used yet")
        assert await there.end() == 1
    assert list(servers(hermes)) == ["time"]
