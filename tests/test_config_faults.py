"""What is wrong with config.yaml is told in plain words: which setting, what it must be, what it is, on which line."""

from pathlib import Path
from typing import Annotated, Literal

import pytest
from msgspec import Meta

from hermes import config
from hermes.config_faults import lines_of, misfit
from hermes.protocol.errors import UserError


def told(folder: Path, text: str) -> str:
    (folder / "config.yaml").write_text(text)
    with pytest.raises(UserError) as caught:
        config.load({"HERMES_HOME": str(folder), "HOME": "/nowhere"})
    return str(caught.value).removeprefix(f"{folder}/config.yaml").lstrip(": ")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("# mine\nmodel: a:b\nagent:\n  max_turns: many\n", "line 4: agent.max_turns must be a whole number, not text"),
        ("agent: {max_turns: 2.5}", "line 1: agent.max_turns must be a whole number, not 2.5"),
        ("agent: {max_turns: true}", "line 1: agent.max_turns must be a whole number, not true"),
        ("agent: {max_cost_per_turn: much}", "line 1: agent.max_cost_per_turn must be a number, not text"),
        ("agent: 5", "line 1: agent must be a group of settings, not a number"),
        ("display: {compact: perhaps}", "line 1: display.compact must be true or false, not text"),
        ("display: {skin: 5}", "line 1: display.skin must be text, not a number; put it in quotes"),
        ("display: {skin: 2026-01-01}", "line 1: display.skin must be text, not a date; put it in quotes"),
        ("approvals: {mode: never}", "line 1: approvals.mode must be manual, smart or off, not 'never'"),
        ("toolsets: file", "line 1: toolsets must be a list, not text"),
        ("toolsets:\n- file\n- 5\n", "line 3: toolsets entry 2 must be text, not a number; put it in quotes"),
        ("toolsets: [null]", "line 1: toolsets entry 1 must be text, not nothing"),
        (
            "fallback_providers:\n- a:b\n- provider: [x]\n",
            "line 3: fallback_providers entry 2 provider must be text, not a list",
        ),
        ("mcp_servers:\n  a:\n    timeout: long\n", "line 3: mcp_servers.a.timeout must be a number, not text"),
        ("mcp_servers: {a: {env: {X: 5}}}", "line 1: mcp_servers.a.env.X must be text, not a number; put it in quotes"),
        ("custom_providers:\n  a: {dialect: chat}\n", "line 2: custom_providers.a needs base_url"),
        ("model: [a]", "line 1: model must be a group of settings or text, not a list"),
        (
            "agent: {max_turns: '${N}'}",
            "line 1: agent.max_turns must be a whole number, not '${N}', for there is no such variable",
        ),
        ("sessions: {retention_days: 0}", "line 1: sessions.retention_days must be a number of 1 or more, not 0"),
        (
            "file_read_max_chars: 9000000",
            "line 1: file_read_max_chars must be a whole number from 2,000 to 150,000, not 9,000,000",
        ),
        ("logging: {max_size_mb: 0}", "line 1: logging.max_size_mb must be a number above 0, not 0"),
    ],
)
def test_a_setting_that_does_not_fit_is_told_plainly(tmp_path, text, words):
    assert told(tmp_path, text) == words


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("agent:\n  max_turns: 5\n\tx: 1\n", "line 3: a tab; indent with blanks"),
        ("a: @x\n", "line 1: text that begins with @ needs quotes"),
        ("a: *x\n", "line 1: text that begins with * needs quotes"),
        ("a: !x y\n", "line 1: text that begins with ! needs quotes"),
        ("a: b: c\n", "line 1: a colon that does not fit; check the indents, or put the text in quotes"),
        ("a: 1\nabc\n", "line 2: a line without `key: value`"),
        ("a:\n    b: 1\n  c: 2\n", "line 3: its indent does not fit the lines above"),
        ('a: "b" c\n', "line 1: text behind a closing quote; put all of it in quotes"),
        ("a: 'x\nb: 1\n", "line 1: a quote is opened and never closed"),
        ("a: [1, 2\nb: 3\n", "line 1: a bracket is opened and never closed with ]"),
        ("a: {b: 1\nc: 2\n", "line 1: a bracket is opened and never closed with }"),
        ("a: 1\na: 2\n", "line 2: a is there twice"),
        ('a: "\\q"\n', "line 1: a \\ in double quotes; use single quotes"),
        ("a: 1\n---\nb: 2\n", "line 2: a second document begins; remove the ---"),
        ("a: - b\n", "line 1: a list cannot begin here; write [a, b], or begin on the next line"),
        ("a: [1,, 2]\n", "line 1: , where a value should be"),
        ("a: \x01\n", "a control character, which no text may have"),
        ("a: |x\n", "line 1: not as `key: value` lines are written; check colons, quotes and indents"),
    ],
)
def test_a_file_that_cannot_be_read_is_told_plainly(tmp_path, text, words):
    assert told(tmp_path, text) == words


def test_a_refused_change_names_no_line_for_the_file_does_not_hold_it(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("agent:\n  max_turns: 5\n")
    with pytest.raises(UserError) as caught:
        config.set_value(path, "agent.max_turns", "lots")
    assert str(caught.value) == f"{path}: agent.max_turns must be a whole number, not text"


def test_the_list_that_holds_a_wrong_entry_is_what_can_be_unset(tmp_path):
    (tmp_path / "config.yaml").write_text("toolsets: [5]\n")
    with pytest.raises(UserError) as caught:
        config.load({"HERMES_HOME": str(tmp_path)})
    assert caught.value.hint.endswith("hermes config unset toolsets")


def test_what_fits_has_no_fault():
    assert misfit({"agent": {"max_turns": "5"}}, config.File) == ((), "")


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        (Annotated[int, Meta(ge=1, le=9)], "must be a whole number from 1 to 9, not a list"),
        (Literal["", "a", "b"] | bool, "must be a, b or true or false, not a list"),
        (dict[str, int] | None, "must be a group of settings, not a list"),
    ],
)
def test_kinds_of_settings_have_plain_names(kind, words):
    assert misfit([], kind) == ((), words)


def test_every_key_has_its_line(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("# mine\nagent:\n  max_turns: 5\n\ntimezone: UTC\n")
    assert lines_of(path) == {"agent": 2, "agent.max_turns": 3, "timezone": 5}
