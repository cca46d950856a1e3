"""`hermes config`: settings by key, secrets apart, and no way to write what cannot be read again."""

import stat
from pathlib import Path

import pytest

from hermes.cli.keys import masked, typed, written
from hermes.protocol.errors import UserError
from tests.cli.command import Hermes, Ran

SECRET = "sk-or-v1-0123456789abcdef"
BROKEN = "model: [unclosed\n"


# get and set


def test_get_prints_the_default_until_something_is_set(hermes: Hermes) -> None:
    assert hermes("config", "get", "agent.max_turns") == Ran(0, "90\n")
    assert hermes("config", "set", "agent.max_turns", "40") == Ran(0, "agent.max_turns: 40\n")
    assert hermes.process("config", "get", "agent.max_turns") == Ran(0, "40\n")
    assert hermes.config.read_text() == "agent:\n  max_turns: 40\n"


def test_values_have_types_and_groups_are_json(hermes: Hermes) -> None:
    for key, value in {
        "network.force_ipv4": "true",
        "toolsets": "[file, terminal]",
        "model_aliases": "{fast: openai:gpt-6}",
        "terminal.timeout": "2.5",
        "timezone": "Europe/Berlin",
        "agent.max_cost_per_turn": "null",
    }.items():
        assert hermes("config", "set", key, value).code == 0
    got = {
        key: hermes("config", "get", key).out
        for key in (
            "network",
            "toolsets",
            "model_aliases.fast",
            "terminal.timeout",
            "timezone",
            "agent.max_cost_per_turn",
        )
    }
    assert got == {
        "network": '{"force_ipv4":true}\n',
        "toolsets": '["file","terminal"]\n',
        "model_aliases.fast": "openai:gpt-6\n",
        "terminal.timeout": "2.5\n",
        "timezone": "Europe/Berlin\n",
        "agent.max_cost_per_turn": "null\n",
    }
    assert hermes("config", "get", "timezone", "--json") == Ran(0, '"Europe/Berlin"\n')


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("true", True),
        ("False", False),
        ("null", None),
        ("12", 12),
        ("-1.5", -1.5),
        ("1e3", 1000.0),
        ('"12"', "12"),
        ("'a: b'", "a: b"),
        ("[1, two, [3]]", [1, "two", [3]]),
        ("{a: {b: true}}", {"a": {"b": True}}),
        *(
            (text, text)
            for text in ("yes", "012", "1_000", "~", "*", "a: b", "- a", "# a", "2026-01-01", "a\nb", "@x", "")
        ),
    ],
)
def test_a_typed_text_means_what_it_looks_like(text: str, value: object) -> None:
    assert typed(text) == value
    assert type(typed(text)) is type(value)
    assert typed(written(value)) == value


def test_a_list_that_is_not_closed_is_refused() -> None:
    with pytest.raises(UserError, match=r"cannot read '\[a'"):
        typed("[a")


def test_the_model_can_be_read_as_a_whole_or_by_its_parts(hermes: Hermes) -> None:
    hermes.write_config("model: openai:gpt-6\n")
    assert [hermes("config", "get", key).out for key in ("model", "model.provider", "model.name")] == [
        "openai:gpt-6\n",
        "openai\n",
        "gpt-6\n",
    ]
    assert hermes("config", "get", "model", HERMES_MODEL="xai:grok").out == "xai:grok\n"


def test_comments_order_and_unknown_keys_survive(hermes: Hermes) -> None:
    hermes.write_config("# mine\ntimezone: Asia/Tokyo  # home\nfuture: {a: 1}\nagent:\n  # not more\n  max_turns: 3\n")
    assert hermes("config", "set", "agent.max_turns", "4").code == 0
    assert hermes("config", "unset", "timezone").code == 0
    assert hermes.config.read_text() == "# mine\nfuture: {a: 1}\nagent:\n  # not more\n  max_turns: 4\n"
    assert hermes("config", "get", "future.a") == Ran(0, "1\n")


def test_a_key_that_hermes_does_not_know_needs_force(hermes: Hermes) -> None:
    refused = {key: hermes("config", "set", key, "5").err for key in ("agnt.max_turns", "agent.max_trns", "zzz")}
    assert refused == {
        "agnt.max_turns": "hermes: there is no setting 'agnt'; did you mean agent? (add --force to set it all the same)\n",
        "agent.max_trns": "hermes: there is no setting 'agent.max_trns'; did you mean agent.max_turns? "
        "(add --force to set it all the same)\n",
        "zzz": "hermes: there is no setting 'zzz' (add --force to set it all the same)\n",
    }
    assert not hermes.config.exists()
    assert hermes("config", "set", "zzz.y", "5", "--force").code == 0
    assert hermes("config", "get", "zzz.y") == Ran(0, "5\n")
    assert hermes("config", "get", "zz.y").err == (
        "hermes: there is no setting 'zz' (hermes config show lists every setting)\n"
    )


def test_a_value_that_does_not_fit_is_refused_and_nothing_is_written(hermes: Hermes) -> None:
    hermes.write_config("timezone: Asia/Tokyo\n")
    assert hermes("config", "set", "agent.max_turns", "lots") == Ran(
        2, "", f"hermes: {hermes.config}: agent.max_turns must be a whole number, not text (nothing was changed)\n"
    )
    assert hermes("config", "set", "approvals.mode", "never").code == 2
    assert hermes("config", "set", "timezone.city", "Tokyo").err == (
        "hermes: timezone.city: timezone is not a group of settings (hermes config unset timezone first)\n"
    )
    assert hermes("config", "set", "timezone").code == 2
    assert hermes.config.read_text() == "timezone: Asia/Tokyo\n"


def test_a_part_of_the_model_can_be_set_whichever_way_it_is_written(hermes: Hermes) -> None:
    hermes.write_config("# mine\nmodel: custom:lab:tiny\n")
    assert hermes("config", "set", "model.base_url", "http://localhost:8000/v1").code == 0
    assert hermes.config.read_text() == (
        "# mine\nmodel:\n  provider: custom\n  name: lab:tiny\n  base_url: http://localhost:8000/v1\n"
    )


def test_another_model_of_a_provider_keeps_its_address(hermes: Hermes) -> None:
    hermes.write_config("model:\n  provider: custom\n  name: tiny\n  base_url: http://localhost:8000/v1  # mine\n")
    assert hermes("config", "set", "model", "custom:large") == Ran(0, "model: custom:large\n")
    assert hermes.config.read_text() == (
        "model:\n  provider: custom\n  name: large\n  base_url: http://localhost:8000/v1  # mine\n"
    )
    hermes("config", "set", "model", "ollama:qwen3:8b")
    assert hermes.config.read_text() == "model: ollama:qwen3:8b\n"


def test_an_address_can_be_set_before_the_model(hermes: Hermes) -> None:
    hermes("config", "set", "model.base_url", "http://localhost:8000/v1")
    hermes("config", "set", "model", "custom:tiny")
    assert hermes("config", "get", "model") == Ran(
        0, '{"provider":"custom","name":"tiny","base_url":"http://localhost:8000/v1"}\n'
    )


def test_unset_takes_back_a_setting_and_says_if_there_was_none(hermes: Hermes) -> None:
    hermes.write_config("model: openai:gpt-6\ntimezone:\n")
    assert hermes("config", "unset", "timezone") == Ran(0, "timezone is unset\n")
    assert hermes("config", "unset", "model.name.deep") == Ran(0, "model.name.deep was not set\n")
    assert hermes.config.read_text() == "model: openai:gpt-6\n"


# Secrets


def test_a_name_in_capitals_goes_to_env_which_only_its_owner_can_read(hermes: Hermes) -> None:
    env = hermes.home / ".env"
    assert hermes("config", "set", "OPENROUTER_API_KEY", SECRET) == Ran(0, f"OPENROUTER_API_KEY is in {env}\n")
    assert env.read_text() == f"OPENROUTER_API_KEY={SECRET}\n"
    assert stat.S_IMODE(env.stat().st_mode) == 0o600
    assert not hermes.config.exists()
    assert hermes("config", "unset", "OPENROUTER_API_KEY") == Ran(0, "OPENROUTER_API_KEY is unset\n")
    assert env.read_text().strip() == ""


@pytest.mark.parametrize("value", [(), ("-",)])
def test_a_secret_is_read_from_stdin_if_it_is_left_out(hermes: Hermes, value: tuple[str, ...]) -> None:
    assert hermes("config", "set", "XAI_API_KEY", *value, stdin=f"{SECRET}\n").code == 0
    assert (hermes.home / ".env").read_text() == f"XAI_API_KEY={SECRET}\n"


def test_a_secret_typed_at_a_terminal_is_not_shown(hermes: Hermes) -> None:
    ran = hermes.terminal("config", "set", "XAI_API_KEY", typed=[("(not shown): ", f"{SECRET}\n")])
    assert (ran.code, SECRET in ran.out) == (0, False)
    assert (hermes.home / ".env").read_text() == f"XAI_API_KEY={SECRET}\n"


def test_no_secret_at_all_changes_nothing(hermes: Hermes) -> None:
    assert hermes("config", "set", "XAI_API_KEY") == Ran(
        2, "", "hermes: no value for XAI_API_KEY was given (nothing was changed)\n"
    )
    assert hermes("config", "set", "XAI_API_KEY", "two\nlines").code == 2
    assert not (hermes.home / ".env").exists()


def test_a_variable_that_the_environment_overrides_is_pointed_out(hermes: Hermes) -> None:
    ran = hermes("config", "set", "XAI_API_KEY", SECRET, XAI_API_KEY="other")
    assert ran.err == (
        "hermes: the environment has another XAI_API_KEY, which is used before this one (unset XAI_API_KEY)\n"
    )


def test_no_command_prints_a_secret(hermes: Hermes) -> None:
    hermes("config", "set", "OPENROUTER_API_KEY", SECRET)
    hermes("config", "set", "HERMES_YOLO_MODE", "on")
    hermes.write_config(f"gallery: {{vision: {{api_key: {SECRET}}}}}\n")
    shown = hermes("config", "show").out
    assert SECRET not in shown
    assert "  OPENROUTER_API_KEY=…cdef\n  HERMES_YOLO_MODE=on\n" in shown
    assert "  gallery.vision.api_key: …cdef  (not known)\n" in shown
    assert hermes("config", "get", "OPENROUTER_API_KEY") == Ran(0, "…cdef\n")
    assert hermes("config", "get", "gallery", "--json") == Ran(0, '{"vision":{"api_key":"…cdef"}}\n')


def test_only_secrets_are_masked() -> None:
    shown = {"api_key_env": "LAB_KEY", "max_tokens": 5, "url": "http://host/v1", "api_key": "${LAB_KEY}", "key": ""}
    assert masked("lab", shown) == shown
    assert masked("db", {"token": "short", "url": "postgres://me:password@host/db", "keys": [{"key": "a" * 20}]}) == {
        "token": "…",
        "url": "…t/db",
        "keys": [{"key": "…aaaa"}],
    }


# show, path, edit, check


def test_show_names_the_files_and_marks_defaults(hermes: Hermes) -> None:
    hermes.write_config("agent: {max_turns: 3}\n")
    lines = hermes("config").out.splitlines()
    assert (lines[0], lines[-1]) == (str(hermes.config), str(hermes.home / ".env"))
    assert "  agent.max_turns: 3" in lines
    assert "  agent.api_max_retries: 3  (default)" in lines
    assert '  model: ""  (default)' in lines


def test_paths_are_printed_even_if_nothing_can_be_read(hermes: Hermes) -> None:
    hermes.write_config(BROKEN)
    assert hermes.process("config", "path") == Ran(0, f"{hermes.config}\n")
    assert hermes("config", "env-path") == Ran(0, f"{hermes.home}/.env\n")


def test_a_broken_file_is_shown_as_far_as_it_goes(hermes: Hermes) -> None:
    hermes.write_config(BROKEN)
    ran = hermes("config", "show")
    assert (ran.code, ran.out) == (0, f"{hermes.config}\n{hermes.home}/.env\n")
    assert ran.err.startswith(f"hermes: {hermes.config} line 1: ")
    hermes.write_config("agent: {max_turns: lots}\ntimezone: Asia/Tokyo\n")
    ran = hermes("config", "show")
    assert ran.out.splitlines()[1:3] == ["  agent.max_turns: lots", "  timezone: Asia/Tokyo"]
    assert "line 1: agent.max_turns must be a whole number, not text" in ran.err


def test_a_wrong_value_is_mended_by_set_or_unset(hermes: Hermes) -> None:
    hermes.write_config("agent: {max_turns: lots}\n")
    assert hermes("config", "get", "timezone").code == 2
    assert hermes("config", "set", "agent.max_turns", "5").code == 0
    hermes.write_config("agent: {max_turns: lots}\n")
    assert hermes("config", "unset", "agent.max_turns") == Ran(0, "agent.max_turns is unset\n")
    assert hermes("config", "get", "agent.max_turns") == Ran(0, "90\n")


def test_edit_opens_the_editor_even_on_a_broken_file_and_checks_the_result(hermes: Hermes, tmp_path: Path) -> None:
    hermes.write_config(BROKEN)
    editor = tmp_path / "my editor"
    editor.write_text('#!/bin/sh\nprintf "%s" "$NEW" > "$2"\ntest "$1" = --wait && env > "$2.env"\n')
    editor.chmod(0o755)
    wanted = {"VISUAL": f"'{editor}' --wait", "EDITOR": "/bin/false", "XAI_API_KEY": SECRET}
    assert hermes.process("config", "edit", NEW="timezone: Asia/Tokyo", **wanted) == Ran(0, "")
    assert hermes.config.read_text() == "timezone: Asia/Tokyo"
    assert SECRET not in (hermes.home / "config.yaml.env").read_text()
    assert hermes.process("config", "edit", NEW="agent: {max_turns: lots}", **wanted).err == (
        f"hermes: {hermes.config} line 1: agent.max_turns must be a whole number, not text "
        "(mend it with: hermes config edit, or hermes config unset agent.max_turns)\n"
    )


def test_an_editor_that_fails_or_is_missing_is_one_line(hermes: Hermes) -> None:
    assert hermes.process("config", "edit", EDITOR="/bin/false").err == (
        f"hermes: /bin/false ended with code 1 (look at {hermes.config})\n"
    )
    assert hermes.process("config", "edit", EDITOR="/nowhere").err == (
        "hermes: cannot start /nowhere: No such file or directory (set EDITOR to one that is there)\n"
    )
    assert hermes("config", "edit", PATH="/nowhere").err == (
        f"hermes: no editor is set (set EDITOR, or open {hermes.config} yourself)\n"
    )


def test_check_tells_what_is_wrong_unknown_or_open_to_others(hermes: Hermes) -> None:
    hermes.write_config(f"model: openai:gpt-6\nagent: {{max_trns: 5}}\nlab: {{token: {SECRET}}}\n")
    (hermes.home / ".env").write_text("A=b\n")
    (hermes.home / ".env").chmod(0o644)
    ran = hermes("config", "check")
    assert (ran.code, ran.out) == (0, f"{hermes.config} can be used; the model is openai:gpt-6\n")
    assert ran.err.splitlines() == [
        "hermes: there is no setting 'agent.max_trns'; did you mean agent.max_turns?",
        "hermes: there is no setting 'lab'",
        "hermes: lab.token in config.yaml looks like a secret: keep it in .env and write ${NAME} here",
        f"hermes: others can read {hermes.home}/.env: chmod 600 {hermes.home}/.env",
    ]
    hermes.write_config("model: nobody:gpt-6\n")
    assert hermes("config", "check").code == 2


def test_a_question_tells_what_is_wrong_with_the_settings_in_the_same_words(hermes: Hermes) -> None:
    hermes.write_config("agent:\n  max_turns: 5\n\tapi_max_retries: 3\n")
    assert hermes("-z", "hi") == Ran(
        2, "", f"hermes: {hermes.config} line 3: a tab; indent with blanks (mend it with: hermes config edit)\n"
    )
    hermes.write_config("agent:\n  max_turns: many\n")
    assert (
        hermes("-z", "hi").err
        == hermes("config", "check").err
        == (
            f"hermes: {hermes.config} line 2: agent.max_turns must be a whole number, not text "
            "(mend it with: hermes config edit, or hermes config unset agent.max_turns)\n"
        )
    )


def test_a_list_that_cannot_be_read_is_told_plainly(hermes: Hermes) -> None:
    assert hermes("config", "set", "toolsets", "[file").err == (
        "hermes: cannot read '[file': a bracket is opened and never closed with ] "
        "(write lists as [a, b], groups as {a: 1})\n"
    )
