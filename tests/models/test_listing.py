"""What `hermes model` tells: who can be called, what they have, and whether they answer."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from hermes.config import CustomProvider
from hermes.models.authfile import Auth, AuthFile, Grant
from hermes.models.catalog import Catalog
from hermes.models.choose import Choice, Chooser
from hermes.models.listing import Checked, ProviderState, check, models_of, providers
from hermes.models.pool import Pool
from hermes.models.roster import Roster
from hermes.protocol.errors import AuthFailed, BadRequest, Disconnected, UserError
from hermes.protocol.models import Model, Tokens
from tests.services.model_server import ModelServer
from tests.services.script import Reply, error


def no_local(name: str) -> Model:
    raise UserError("the embedded model is not installed")


@pytest.fixture
async def pool() -> AsyncIterator[Pool]:
    async with Pool() as opened:
        yield opened


def roster(pool: Pool, tmp_path: Path, **environ: str) -> Roster:
    chooser = Chooser(Catalog(), environ=environ)
    return Roster(chooser, pool, AuthFile(tmp_path / "auth.json"), local=no_local)


def test_every_provider_is_listed_with_how_it_can_be_called() -> None:
    environ = {"XAI_API_KEY": "k", "XAI_API_KEY_2": "l", "LAB_KEY": "m"}
    customs = {
        "lab": CustomProvider(base_url="https://lab.example/v1", api_key_env="LAB_KEY"),
        "desk": CustomProvider(base_url="http://127.0.0.1:9/v1"),
        "lost": CustomProvider(base_url="http://127.0.0.1:8/v1", api_key_env="LOST_KEY"),
    }
    auth = Auth(logins={"nous": Grant("a", "r", 0)})
    listed = {state.name: state for state in providers(Chooser(Catalog(), environ=environ, auth=auth, customs=customs))}
    assert len(listed) == 23 + 3
    shown = ["nous", "xai", "gemini", "ollama", "lmstudio", "custom:lab", "custom:desk", "custom:lost"]
    assert [listed[name] for name in shown] == [
        ProviderState("nous", "Nous Portal", "login", (), "anthropic/claude-sonnet-5.5"),
        ProviderState("xai", "xAI", "key", ("XAI_API_KEY", "XAI_API_KEY_2"), "grok-4.7"),
        ProviderState("gemini", "Google Gemini", "none", ("GEMINI_API_KEY", "GOOGLE_API_KEY"), "gemini-3.8-flash"),
        ProviderState("ollama", "Ollama", "open", (), ""),
        ProviderState("lmstudio", "LM Studio", "open", ("LM_API_KEY",), ""),
        ProviderState("custom:lab", "https://lab.example/v1", "key", ("LAB_KEY",), ""),
        ProviderState("custom:desk", "http://127.0.0.1:9/v1", "open", (), ""),
        ProviderState("custom:lost", "http://127.0.0.1:8/v1", "none", ("LOST_KEY",), ""),
    ]


@pytest.mark.parametrize("provider", ["custom", "openai", "anthropic", "gemini"])
async def test_the_models_of_a_provider_are_those_it_lists(pool: Pool, tmp_path: Path, provider: str) -> None:
    async with ModelServer(models=["models/b", "a"]) as server:
        choice = Choice(provider, "", base_url=server.base_url, api_key_env="LAB")
        assert await models_of(roster(pool, tmp_path, LAB="secret"), choice) == ["a", "b"]
        sent = server.last.headers
        assert sent.get("authorization", sent.get("x-api-key")) in ("Bearer secret", "secret")


async def test_a_provider_without_a_list_has_the_models_of_its_row(pool: Pool, tmp_path: Path) -> None:
    found = roster(pool, tmp_path)
    assert "MiniMax-M3" in await models_of(found, Choice("minimax", ""))
    assert await models_of(found, Choice("local", "")) == ["qwen2.5-coder-1.5b"]
    async with ModelServer() as server:
        elsewhere = Choice("zai", "", base_url=f"{server.url}/v4")
        assert "glm-5.3" in await models_of(found, elsewhere)
        with pytest.raises(BadRequest, match="Unknown request URL"):
            await models_of(found, Choice("custom", "", base_url=f"{server.url}/v4"))


async def test_a_list_that_cannot_be_had_says_why(pool: Pool, tmp_path: Path, free_tcp_port: int) -> None:
    found = roster(pool, tmp_path)
    gone = Choice("vllm", "", base_url=f"http://127.0.0.1:{free_tcp_port}/v1")
    with pytest.raises(Disconnected, match=r"cannot ask 127\.0\.0\.1 for its models: "):
        await models_of(found, gone)
    with pytest.raises(UserError, match="has no address to ask"):
        await models_of(found, Choice("custom", ""))


async def test_a_model_that_answers_tells_how_fast(pool: Pool, tmp_path: Path) -> None:
    times = iter([10.0, 10.5, 11.5])
    async with ModelServer([Reply("Yes", thought="The word is yes.")]) as server:
        choice = Choice("custom", "scripted", base_url=server.base_url)
        assert await check(roster(pool, tmp_path), choice, lambda: next(times)) == Checked(
            "custom:scripted", 0.5, 1.5, "Yes", Tokens(input=10, output=5), None
        )


async def test_a_model_that_does_not_answer_is_asked_once(pool: Pool, tmp_path: Path) -> None:
    async with ModelServer([error(401), Reply("yes")]) as server:
        with pytest.raises(AuthFailed):
            await check(roster(pool, tmp_path), Choice("custom", "scripted", base_url=server.base_url))
        assert len(server.requests) == 1
