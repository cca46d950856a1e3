"""`hermes prompt-size`: what every request begins with, counted without key or network."""

import json
from pathlib import Path

import pytest

from tests.cli.command import Hermes, Ran

# The tokenizer package opens its own data in an old way.
pytestmark = pytest.mark.filterwarnings("ignore:open_binary is deprecated:DeprecationWarning")


@pytest.fixture
def hermes(tmp_path: Path) -> Hermes:
    hermes = Hermes(tmp_path)
    (tmp_path / "project").mkdir()
    hermes.write_config(f"terminal: {{cwd: {tmp_path / 'project'}}}\n")
    return hermes


def test_the_parts_add_up(hermes: Hermes) -> None:
    size = json.loads(hermes("prompt-size", "--json", "-m", "openai:gpt-6").out)
    assert (size["model"], size["profile"]) == ("openai:gpt-6", "full")
    assert [part["name"] for part in size["sections"]] == ["identity", "guidance", "skills", "environment", "date"]
    between = 2 * (len(size["sections"]) - 1)
    assert size["system"]["bytes"] == sum(part["bytes"] for part in size["sections"]) + between
    commas_and_brackets = len(size["tools"]) + 1
    assert size["tool_specs"]["bytes"] == sum(part["bytes"] for part in size["tools"]) + commas_and_brackets
    assert size["total"] == {
        "name": "total",
        "bytes": size["system"]["bytes"] + size["tool_specs"]["bytes"],
        "tokens": size["system"]["tokens"] + size["tool_specs"]["tokens"],
    }
    assert size["total"]["tokens"] < 5_000


def test_a_context_file_is_a_part_of_its_own(hermes: Hermes, tmp_path: Path) -> None:
    (tmp_path / "project" / "AGENTS.md").write_text("Be brief. " * 100)
    size = json.loads(hermes("prompt-size", "--json", "-m", "openai:gpt-6").out)
    [rules] = [part for part in size["sections"] if part["name"] == "context file"]
    assert rules["bytes"] > 900


def test_toolsets_and_the_small_profile_make_it_smaller(hermes: Hermes) -> None:
    tools = {
        args: [part["name"] for part in json.loads(hermes("prompt-size", "--json", *args).out)["tools"]]
        for args in [("-m", "openai:gpt-6", "-t", "todo,clarify"), ("-m", "local")]
    }
    assert list(tools.values()) == [["todo", "clarify"], ["read_file", "write_file", "terminal"]]


def test_a_person_gets_a_table_and_a_program_gets_tabs(hermes: Hermes) -> None:
    screen = hermes.terminal("prompt-size", "-m", "openai:gpt-6", "-t", "todo").out.splitlines()
    assert screen[0].split() == ["part", "bytes", "tokens"]
    assert [line.split()[0] for line in screen[1:]] == [
        *("identity", "guidance", "environment", "date", "system", "todo", "tools", "total", "for")
    ]
    assert screen[-1] == "for openai:gpt-6; tokens counted by o200k_base"
    lines = hermes("prompt-size", "-m", "openai:gpt-6", "-t", "todo").out.splitlines()
    assert [len(line.split("\t")) for line in lines] == [3] * 8


def test_without_the_tokenizer_tokens_are_estimated_from_bytes(hermes: Hermes, tmp_path: Path) -> None:
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "bpe_openai.py").write_text("raise ImportError('not installed')\n")
    size = json.loads(hermes.process("prompt-size", "--json", "-m", "openai:gpt-6", PYTHONPATH=str(hidden)).out)
    assert size["counted"] == "bytes / 4"
    assert [part["tokens"] for part in size["tools"]] == [-(-part["bytes"] // 4) for part in size["tools"]]


def test_a_toolset_that_is_not_there_is_one_line(hermes: Hermes) -> None:
    assert hermes("prompt-size", "-m", "openai:gpt-6", "-t", "todoo") == Ran(
        2, "", "hermes: There is no toolset 'todoo'. (Did you mean todo?)\n"
    )


def test_a_platform_has_the_tools_that_are_set_for_it(hermes: Hermes) -> None:
    hermes("config", "set", "platform_toolsets.telegram", "[todo]")
    size = json.loads(hermes("prompt-size", "--json", "-m", "openai:gpt-6", "--platform", "telegram").out)
    assert [part["name"] for part in size["tools"]] == ["todo"]
