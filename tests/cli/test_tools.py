"""`hermes tools`: on and off by tool or toolset, for each surface, as a new session then has them."""

import pytest

from hermes import config
from hermes.app import App, Wish
from tests.cli.command import Hermes


def on(hermes: Hermes, *flags: str) -> list[str]:
    ran = hermes("tools", *flags)
    assert (ran.code, ran.err) == (0, "")
    return [line.split("\t")[0] for line in ran.out.splitlines() if line.split("\t")[1] == "on"]


def names(hermes: Hermes, source: str) -> list[str]:
    """The tools that a session of this surface would have."""
    app = App(config.load(hermes.environ))
    return [tool.spec.name for tool in app.tools(Wish(source=source), "")]


def test_a_toolset_that_is_off_is_gone_from_sessions_and_comes_back(hermes: Hermes) -> None:
    everything = on(hermes)
    assert "terminal" in everything
    ran = hermes("tools", "disable", "terminal", "todo")
    assert (ran.code, "terminal" in ran.out) == (0, False)
    assert (
        on(hermes)
        == names(hermes, "cli")
        == [name for name in everything if name not in ("terminal", "process", "todo")]
    )
    assert config.read_yaml(hermes.config) == {"toolsets": ["hermes-cli", "-terminal", "-todo"]}
    assert hermes("tools", "enable", "terminal").code == 0
    assert on(hermes) == [name for name in everything if name != "todo"]
    assert hermes("tools", "enable", "todo").code == 0
    assert config.read_yaml(hermes.config) == {"toolsets": ["hermes-cli"]}


def test_a_surface_has_a_list_of_its_own(hermes: Hermes) -> None:
    assert hermes("tools", "disable", "terminal", "--platform", "telegram").code == 0
    assert "terminal" in names(hermes, "cli") and "terminal" not in names(hermes, "telegram")
    assert "terminal" not in on(hermes, "list", "--platform", "telegram")
    hermes("tools", "disable", "hermes-cli")
    summary = hermes("tools", "--summary").out.splitlines()
    assert summary[0] == "cli: 0 tools: " and summary[1].startswith("telegram: ")


def test_servers_are_listed_and_left_to_their_own_switch(hermes: Hermes) -> None:
    hermes.write_config("toolsets: [file, mcp-a]\nmcp_servers: {a: {command: x}}\n")
    assert on(hermes)[-1] == "mcp-a"
    assert hermes("tools", "enable", "todo").code == 0
    assert config.read_yaml(hermes.config)["toolsets"] == ["file", "mcp-a", "todo"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["disable", "termnal"], "There is no toolset 'termnal'. (Did you mean terminal?)"),
        (["enable"], "the following arguments are required: NAME"),
        (["enable", "todo", "--platform", "a.b"], "'a.b' is no surface"),
        (["wat"], "invalid choice: 'wat'"),
    ],
)
def test_bad_input_is_one_line_and_code_2(hermes: Hermes, args: list[str], said: str) -> None:
    ran = hermes("tools", *args)
    assert (ran.code, ran.out, ran.err.count("\n"), said in ran.err) == (2, "", 1, True)
    assert not hermes.config.exists()
