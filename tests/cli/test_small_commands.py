"""The smaller actions of `hermes model`, `auth` and `config`: search, pool, migrate."""

from hermes import config
from tests.cli.command import Hermes, Ran
from tests.services.model_server import ModelServer

SECRET = "tok-0123456789abcdef"


async def test_models_are_found_by_words_of_their_names(hermes: Hermes) -> None:
    async with ModelServer(models=["Tiny-Coder-7b", "other"]) as server:
        hermes.write_config(f"custom_providers: {{lab: {{base_url: {server.base_url}}}}}\n")
        assert await hermes.beside("model", "search", "coder", "tiny") == Ran(0, "custom:lab:Tiny-Coder-7b\n")
        opus = (await hermes.beside("model", "search", "claude-opus")).out.splitlines()
        assert "anthropic:claude-opus-5-5" in opus
        none = await hermes.beside("model", "search", "no-such-model")
    assert none == Ran(1, "", "hermes: no model has 'no-such-model' in its name (hermes model lists the providers)\n")
    lost = await hermes.beside("model", "search", "claude-opus-5-5")
    assert (lost.code, lost.err.startswith("hermes: custom:lab was not asked: ")) == (0, True)
    assert (await hermes.beside("model", "search")).code == 2


def test_the_keys_of_a_provider_take_turns_as_is_set(hermes: Hermes) -> None:
    keys = {"XAI_API_KEY": "a", "XAI_API_KEY_2": "b"}
    assert hermes("auth", "pool", "xai", **keys) == Ran(0, "xai: fill_first, 2 keys (XAI_API_KEY, XAI_API_KEY_2)\n")
    assert hermes("auth", "pool", "xai", "round_robin", **keys).code == 0
    assert config.read_yaml(hermes.config) == {"credential_pools": {"xai": "round_robin"}}
    assert hermes("auth", "pool", "xai").out == "xai: round_robin, 0 keys\n"
    assert [hermes("auth", "pool", *words).code for words in (["xai", "best"], ["nobody"], [])] == [2, 2, 2]


def test_secrets_move_from_the_settings_into_env(hermes: Hermes) -> None:
    text = "# mine\nmcp_servers:\n  a:\n    command: x\n    # his\n    env:\n      API_KEY: {}\n"
    hermes.write_config(text.format(SECRET))
    name = "MCP_SERVERS_A_ENV_API_KEY"
    ran = hermes("config", "migrate")
    assert (ran.code, SECRET in ran.out) == (0, False)
    assert hermes.config.read_text() == text.format(f"${{{name}}}")
    assert config.read_env(hermes.home / ".env") == {name: SECRET}
    assert config.load(hermes.environ).file.mcp_servers["a"].env == {"API_KEY": SECRET}
    assert hermes("config", "migrate") == Ran(0, "there is no secret in config.yaml\n")


def test_a_secret_that_would_replace_another_is_left_alone(hermes: Hermes) -> None:
    text = f"mcp_servers: {{a: {{command: x, env: {{API_KEY: {SECRET}}}}}}}\n"
    hermes.write_config(text)
    (hermes.home / ".env").write_text("MCP_SERVERS_A_ENV_API_KEY=other\n")
    ran = hermes("config", "migrate")
    assert (ran.code, ran.err.count("\n"), hermes.config.read_text()) == (2, 1, text)
