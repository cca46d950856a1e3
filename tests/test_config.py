"""Settings are read once, typed, and changed without losing what a person wrote."""

import pytest

from hermes import config
from hermes.config import ModelSettings
from hermes.protocol.errors import UserError


def home(tmp_path, text: str = "", env: str = "", **environ):
    (tmp_path / "config.yaml").write_text(text)
    (tmp_path / ".env").write_text(env)
    return config.load({"HERMES_HOME": str(tmp_path), "HOME": "/nowhere", **environ})


def test_nothing_set_means_the_defaults(tmp_path):
    settings = config.load({"HERMES_HOME": str(tmp_path)})
    assert settings.file == config.File()
    assert (settings.model, settings.fallbacks, settings.yolo) == (ModelSettings(), (), False)
    assert config.find_home({"HOME": "/h"}).as_posix() == "/h/.hermes"


def test_a_home_of_nobody_is_told():
    with pytest.raises(UserError, match="~no-such-person/x is nowhere: nobody has such a home folder"):
        config.find_root({"HERMES_HOME": "~no-such-person/x", "HOME": "/h"})


def test_a_model_is_written_in_either_form(tmp_path):
    assert home(tmp_path, "model: openrouter:a/b:free").model == ModelSettings("openrouter", "a/b:free")
    assert home(tmp_path, "model: {provider: custom, name: echo, base_url: http://x/v1}").model == ModelSettings(
        "custom", "echo", "http://x/v1"
    )
    assert home(tmp_path, "fallback_providers: [openai:gpt, {provider: groq}]").fallbacks == (
        ModelSettings("openai", "gpt"),
        ModelSettings("groq"),
    )


def test_the_environment_comes_before_the_files(tmp_path):
    settings = home(tmp_path, "model: a:b", "KEY=from file\nHERMES_MODEL=c:d", KEY="from shell", HERMES_YOLO_MODE="Yes")
    assert settings.environ["KEY"] == "from shell"
    assert settings.model == ModelSettings("c", "d")
    assert settings.yolo


def test_variables_are_filled_in_and_a_missing_one_stays(tmp_path):
    settings = home(tmp_path, "model: {provider: '${WHO}', name: '${env:WHAT}-${GONE}'}", WHO="custom", WHAT="x")
    assert settings.model == ModelSettings("custom", "x-${GONE}")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("model: [a", "line"),
        ("agent: {max_turns: many}", "line 1: agent.max_turns must be a whole number, not text"),
        ("approvals: {mode: sometimes}", "line 1: approvals.mode must be manual, smart or off, not 'sometimes'"),
        ("- a\n- b", "must hold settings"),
    ],
)
def test_what_is_wrong_is_named(tmp_path, text, told):
    with pytest.raises(UserError) as caught:
        home(tmp_path, text)
    assert told in str(caught.value)
    assert "hermes config edit" in caught.value.hint


def test_env_lines_in_all_their_forms(tmp_path):
    (tmp_path / ".env").write_text("# note\nexport A=1\nB='two words'\nC=\"x\"\nD=4 # four\n\nE\nF=a=b\n")
    assert config.read_env(tmp_path / ".env") == {"A": "1", "B": "two words", "C": "x", "D": "4", "F": "a=b"}


def test_setting_keeps_comments_order_and_unknown_keys(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("# mine\nzebra: 1  # stays\nagent:\n  max_turns: 5\n")
    config.set_value(path, "agent.max_turns", 7)
    config.set_value(path, "terminal.timeout", 30)
    assert path.read_text() == "# mine\nzebra: 1  # stays\nagent:\n  max_turns: 7\nterminal:\n  timeout: 30\n"
    assert config.unset_value(path, "terminal.timeout") and not config.unset_value(path, "terminal.timeout")
    assert path.stat().st_mode & 0o777 == 0o600


def test_unsetting_the_last_of_a_group_takes_the_group_along(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("zebra: {}\nterminal:\n  timeout: 5\n  ssh:\n    host: a\n")
    assert config.unset_value(path, "terminal.ssh.host")
    assert path.read_text() == "zebra: {}\nterminal:\n  timeout: 5\n"
    assert config.unset_value(path, "terminal.timeout") and not config.unset_value(path, "zebra.stripes")
    assert path.read_text() == "zebra: {}\n"


def test_a_setting_that_does_not_fit_is_refused_and_nothing_is_written(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("agent: {max_turns: 5}\n")
    with pytest.raises(UserError, match=r"agent\.max_turns"):
        config.set_value(path, "agent.max_turns", "lots")
    assert path.read_text() == "agent: {max_turns: 5}\n"


def test_one_of_two_wrong_settings_can_be_unset(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("agent: {max_turns: x}\napprovals: {mode: y}\n")
    assert config.unset_value(path, "agent.max_turns")
    assert "max_turns" not in path.read_text()


def test_an_empty_group_can_be_filled(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("agent:\n")
    config.set_value(path, "agent.max_turns", 3)
    assert config.read_yaml(path) == {"agent": {"max_turns": 3}}


@pytest.mark.parametrize("value", ["plain", "ab #cd", "'quoted'", '"x"', " spaces ", "a=b"])
def test_a_secret_is_read_back_as_it_was_set(tmp_path, value):
    path = tmp_path / ".env"
    path.write_text("OTHER=1\nNAME=old\n")
    config.set_secret(path, "NAME", value)
    assert config.read_env(path) == {"OTHER": "1", "NAME": value}
    assert path.stat().st_mode & 0o777 == 0o600
    config.set_secret(path, "NAME", "")
    assert config.read_env(path) == {"OTHER": "1"}
