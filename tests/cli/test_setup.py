"""`hermes setup`: a wizard in plain lines that finds what is there, proves what it sets, and can be run again."""

import stat
import time
from pathlib import Path

import pytest

from hermes import config
from hermes.models.authfile import AuthFile, Grant
from tests.cli.command import Hermes, Ran
from tests.services.model_server import ModelServer
from tests.services.script import Reply, error

NOWHERE = ",".join(f"{name}=http://127.0.0.1:9/v1" for name in ("ollama", "lmstudio", "llamacpp", "vllm"))


def at(server: ModelServer, name: str = "vllm") -> dict[str, str]:
    return {"HERMES_LOCAL_SERVERS": f"{NOWHERE},{name}={server.base_url}"}


def read(hermes: Hermes) -> dict[str, object]:
    return config.read_yaml(hermes.config)


async def test_a_model_server_on_this_machine_is_found_and_proved(hermes: Hermes) -> None:
    async with ModelServer([Reply("yes")], models=["b", "a"]) as server:
        ran = await hermes.beside("setup", "model", "--non-interactive", **at(server))
        assert (ran.code, ran.err, len(server.requests) >= 1) == (0, "", True)
        assert "model: vllm:a answers, after " in ran.out
        assert read(hermes) == {"model": {"provider": "vllm", "name": "a", "base_url": server.base_url}}
        assert stat.S_IMODE(hermes.home.stat().st_mode) == 0o700


def test_with_nothing_there_the_embedded_model_answers_and_nothing_is_written(hermes: Hermes) -> None:
    ran = hermes("setup", "model", "--non-interactive", HERMES_LOCAL_SERVERS=NOWHERE)
    assert (ran.code, ran.err) == (0, "")
    assert "the embedded model answers" in ran.out
    assert not hermes.config.exists()


async def test_a_model_that_does_not_answer_stays_set_and_is_said_not_to(hermes: Hermes) -> None:
    async with ModelServer([error("invalid_key")], models=["a"]) as server:
        ran = await hermes.beside("setup", "model", "--non-interactive", **at(server))
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert ran.err.startswith("hermes: vllm:a is set, but does not answer: ")
    assert "model" in read(hermes)


def test_a_key_is_asked_for_kept_in_env_and_never_shown(hermes: Hermes) -> None:
    # 2: another provider; then its name, its key, its model
    typed = "2\nnobody\nmistral\nmy-secret-key-1234\nmistral-large\n"
    ran = hermes("setup", "model", stdin=typed, HERMES_LOCAL_SERVERS=NOWHERE, HTTPS_PROXY="http://127.0.0.1:9")
    assert "there is no provider 'nobody'" in ran.err
    assert config.read_env(hermes.home / ".env") == {"MISTRAL_API_KEY": "my-secret-key-1234"}
    assert stat.S_IMODE((hermes.home / ".env").stat().st_mode) == 0o600
    assert read(hermes) == {"model": "mistral:mistral-large"}
    assert ran.code == 1 and "is set, but does not answer" in ran.err
    assert "my-secret" not in ran.out + ran.err


async def test_a_server_is_named_by_its_address_and_may_want_a_key(hermes: Hermes) -> None:
    async with ModelServer([Reply("yes")], models=["a"]) as server:
        # 3: a server of yours; a slip, its address, a key, and Enter for the model that it has
        typed = f"3\nlocalhost\n{server.base_url}\ny\nmy-secret-key-1234\n\n"
        ran = await hermes.beside("setup", "model", stdin=typed, HERMES_LOCAL_SERVERS=NOWHERE)
        assert ran.code == 0
        assert "hermes: 'localhost' is no address (it begins with http:// or https://)\n" in ran.err
        assert server.last.headers["authorization"] == "Bearer my-secret-key-1234"
    kept = {"provider": "custom", "name": "a", "base_url": server.base_url, "api_key_env": "CUSTOM_API_KEY"}
    assert read(hermes) == {"model": kept}
    assert "my-secret" not in ran.out + ran.err


async def test_all_steps_can_be_walked_at_a_terminal_and_run_again(hermes: Hermes) -> None:
    async with ModelServer([Reply("yes")], models=["a"]) as server:
        import asyncio

        first = await asyncio.to_thread(
            hermes.terminal,
            "setup",
            typed=[
                ("who should answer?", "1\n"),
                ("which of its models?", "\n"),
                ("where should commands run?", "\n"),
                ("toolsets, with commas", "coding\n"),
                ("in one turn at most", "40\n"),
                ("approvals?", "1\n"),
            ],
            columns=100,
            **at(server),
        )
        assert first.code == 0, first.out
        assert read(hermes) == {
            "model": {"provider": "vllm", "name": "a", "base_url": server.base_url},
            "terminal": {"backend": "local"},
            "toolsets": ["coding"],
            "agent": {"max_turns": 40},
        }
        asked = len(server.requests)
        again = await hermes.beside("setup", "--quick", "--non-interactive", **at(server))
        assert (again.code, len(server.requests)) == (0, asked)


def test_comments_survive_and_a_reset_keeps_the_old_settings_aside(hermes: Hermes) -> None:
    hermes.write_config("# mine\nagent:\n  max_turns: 7  # few\n")
    assert hermes("setup", "agent", stdin="9\n2\n").code == 0
    assert hermes.config.read_text() == "# mine\nagent:\n  max_turns: 9  # few\napprovals:\n  mode: smart\n"
    ran = hermes("setup", "agent", "--non-interactive", "--reset")
    [aside] = hermes.home.glob("config.yaml.*")
    assert (ran.code, hermes.config.exists()) == (0, False)
    assert str(aside) in ran.out and "# few" in aside.read_text()


def test_an_openclaw_home_is_mentioned_in_one_line(hermes: Hermes, tmp_path: Path) -> None:
    (tmp_path / ".clawdbot").mkdir()
    ran = hermes("setup", "agent", "--non-interactive")
    assert [str(tmp_path / ".clawdbot") in line for line in ran.out.splitlines()].count(True) == 1


@pytest.mark.parametrize(
    ("args", "stdin", "said"),
    [
        (
            ["everything"],
            "",
            "argument STEP: invalid choice: 'everything' (choose from 'model', 'terminal', 'tools', 'agent')",
        ),
        (["agent"], "", "hermes: the input has ended"),
        (["agent"], "many\n", "hermes: the input has ended"),
    ],
)
def test_bad_input_is_said_and_code_2(hermes: Hermes, args: list[str], stdin: str, said: str) -> None:
    ran = hermes("setup", *args, stdin=stdin)
    last = ran.err.splitlines()[-1]
    assert (ran.code, last.startswith("hermes: "), said in last) == (2, True, True)
    assert ran != Ran(0, "")


def test_the_home_is_given_a_soul_to_change_and_keeps_the_one_it_has(hermes: Hermes) -> None:
    soul = hermes.home / "SOUL.md"
    assert f"who Hermes is stands in {soul}, for you to change\n" in hermes("setup", "agent", "--non-interactive").out
    soul.write_text("You are a pirate.\n")
    assert "SOUL.md" not in hermes("setup", "agent", "--non-interactive").out
    assert soul.read_text() == "You are a pirate.\n"


def test_the_portal_is_one_step_for_whoever_is_logged_in(hermes: Hermes) -> None:
    auth = AuthFile(hermes.home / "auth.json")
    auth.change(lambda stored: stored.with_login("nous", Grant("access", "refresh", time.time() + 3600)))
    ran = hermes("setup", "--portal", HTTPS_PROXY="http://127.0.0.1:9", HERMES_LOCAL_SERVERS=NOWHERE)
    assert (ran.code, ran.err.count("\n")) == (1, 1)
    assert ran.err.startswith("hermes: nous:anthropic/claude-sonnet-5.5 is set, but does not answer: ")
    assert read(hermes) == {"model": "nous:anthropic/claude-sonnet-5.5"}


def test_the_portal_without_a_way_to_it_sets_nothing(hermes: Hermes) -> None:
    ran = hermes("setup", "--portal", HTTPS_PROXY="http://127.0.0.1:9", HERMES_LOCAL_SERVERS=NOWHERE)
    assert (ran.code, ran.err.count("\n"), hermes.config.exists()) == (1, 1, False)
