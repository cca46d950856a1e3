"""Choosing a model: every way to name one, and whose key may go where."""

import pytest

from hermes.config import CustomProvider
from hermes.models.authfile import Auth, Grant, StoredKey
from hermes.models.catalog import Catalog
from hermes.models.choose import Choice, Chooser, no_key
from hermes.protocol.errors import UserError

CATALOG = Catalog()
LAB = CustomProvider(base_url="https://lab.example/v1", api_key_env="LAB_KEY")
OPENAI = Choice("openai", "gpt-6.1-sol")
OLLAMA = Choice("ollama", "qwen3:8b")
ROUTER = Choice("openrouter", "z-ai/glm-5.3")
MINE = Choice("custom", "echo", base_url="http://127.0.0.1:1/v1", api_key_env="MINE")


def chooser(environ: dict[str, str] | None = None, auth: Auth | None = None) -> Chooser:
    aliases = {"smart": "fast", "fast": "openrouter:z-ai/glm-5.3-flash", "loop": "loop"}
    return Chooser(CATALOG, environ=environ or {}, auth=auth, customs={"lab": LAB}, aliases=aliases)


@pytest.mark.parametrize(
    ("text", "current", "choice"),
    [
        ("openai:gpt-6-luna", None, Choice("openai", "gpt-6-luna")),
        ("OpenAI:gpt-6-luna", None, Choice("openai", "gpt-6-luna")),
        ("moonshot:kimi-k3", None, Choice("kimi", "kimi-k3")),
        ("openrouter:anthropic/claude-opus-5-5", None, Choice("openrouter", "anthropic/claude-opus-5.5")),
        ("ollama:qwen3:8b", None, OLLAMA),
        ("anthropic", None, Choice("anthropic", "claude-sonnet-5-5")),
        ("local", OPENAI, Choice("local", "qwen2.5-coder-1.5b")),
        ("gpt-6-luna", OPENAI, Choice("openai", "gpt-6-luna")),
        ("gpt-9", OPENAI, Choice("openai", "gpt-9")),
        ("claude-opus-5.5", OPENAI, Choice("anthropic", "claude-opus-5-5")),
        ("claude-opus-5.5", ROUTER, Choice("openrouter", "anthropic/claude-opus-5.5")),
        ("claude-opus-5.5", None, Choice("anthropic", "claude-opus-5-5")),
        ("x-ai/grok-4.7", None, Choice("xai", "grok-4.7")),
        ("llama3:70b", OLLAMA, Choice("ollama", "llama3:70b")),
        ("deepseek/deepseek-r1:free", ROUTER, Choice("openrouter", "deepseek/deepseek-r1:free")),
        ("lab:tiny", None, Choice("custom", "tiny", "lab", "https://lab.example/v1", "LAB_KEY")),
        ("custom:lab:tiny:2b", None, Choice("custom", "tiny:2b", "lab", "https://lab.example/v1", "LAB_KEY")),
        ("custom:other", MINE, Choice("custom", "other", base_url=MINE.base_url, api_key_env="MINE")),
        ("other:8b", MINE, Choice("custom", "other:8b", base_url=MINE.base_url, api_key_env="MINE")),
        ("smart", OPENAI, Choice("openrouter", "z-ai/glm-5.3-flash")),
        ("loop", OPENAI, Choice("openai", "loop")),
        ("", OPENAI, OPENAI),
    ],
)
def test_a_name_means_one_model(text: str, current: Choice | None, choice: Choice) -> None:
    assert chooser().resolve(text, current=current) == choice


@pytest.mark.parametrize(
    ("choice", "name"),
    [
        (OLLAMA, "ollama:qwen3:8b"),
        (Choice("custom", "tiny", "lab", "https://lab.example/v1", "LAB_KEY"), "custom:lab:tiny"),
        (Choice("openrouter", "anthropic/claude-opus-5.5"), "openrouter:anthropic/claude-opus-5.5"),
    ],
)
def test_the_name_of_a_choice_can_be_typed_again(choice: Choice, name: str) -> None:
    assert choice.name == name
    assert chooser().resolve(name) == choice


def test_flags_win_over_what_stands_in_the_name() -> None:
    choose = chooser().resolve
    assert choose("gpt-6-luna", provider="openrouter") == Choice("openrouter", "openai/gpt-6-luna")
    assert choose(provider="gemini") == Choice("gemini", "gemini-3.8-flash")
    assert choose(provider="openai", current=Choice("openai", "gpt-6-luna")) == Choice("openai", "gpt-6-luna")
    assert choose("echo", base_url="http://127.0.0.1:1/v1") == Choice(
        "custom", "echo", base_url="http://127.0.0.1:1/v1"
    )
    assert choose("openai:gpt-6-luna", base_url="http://proxy/v1") == Choice(
        "openai", "gpt-6-luna", base_url="http://proxy/v1"
    )
    assert choose("tiny", provider="lab") == choose("custom:lab:tiny") == choose("lab:tiny", provider="custom")


def test_a_provider_flag_that_nobody_has_is_told_the_nearest_name() -> None:
    with pytest.raises(UserError, match="there is no provider 'opnai'") as raised:
        chooser().resolve("gpt-6-luna", provider="opnai")
    assert raised.value.hint == "did you mean openai?"


def test_small_work_goes_to_the_vendors_cheap_model_but_not_to_somebody_elses() -> None:
    assert chooser().auxiliary(OPENAI) == Choice("openai", "gpt-6-luna")
    for same in (OLLAMA, MINE, Choice("openai", "m", base_url="http://proxy/v1")):
        assert chooser().auxiliary(same) == same


@pytest.mark.parametrize(
    ("text", "current", "message", "hint"),
    [
        ("opnai:gpt-6", None, "there is no provider 'opnai'", "did you mean openai?"),
        ("opnrouter:m", OPENAI, "there is no provider 'opnrouter'", "did you mean openrouter?"),
        ("qwen3:8b", OPENAI, "there is no provider 'qwen3'", "known providers: nous"),
        ("mystery", None, "no provider is known to have the model 'mystery'", "-m PROVIDER:mystery"),
        ("ollama", None, "say which model of Ollama is meant", "hermes model ollama"),
        ("custom:m", None, "a custom provider needs an address", "hermes config set model.base_url"),
        ("custom:lab", None, "say which model of lab is meant", "-m custom:lab:MODEL"),
    ],
)
def test_a_name_that_means_nothing_gets_one_line_and_a_hint(
    text: str, current: Choice | None, message: str, hint: str
) -> None:
    with pytest.raises(UserError) as raised:
        chooser().resolve(text, current=current)
    assert str(raised.value) == message
    assert hint in raised.value.hint


@pytest.mark.parametrize(
    ("environ", "choice"),
    [
        ({}, Choice("local", "qwen2.5-coder-1.5b")),
        ({"OPENAI_API_KEY": " "}, Choice("local", "qwen2.5-coder-1.5b")),
        ({"LM_API_KEY": "k"}, Choice("local", "qwen2.5-coder-1.5b")),
        ({"GROQ_API_KEY": "k"}, Choice("groq", "openai/gpt-oss-120b")),
        ({"GOOGLE_API_KEY": "k", "GROQ_API_KEY": "k"}, Choice("gemini", "gemini-3.8-flash")),
        (
            {"OPENROUTER_API_KEY": "k", "OPENAI_API_KEY": "k"},
            Choice("openrouter", "anthropic/claude-sonnet-5.5"),
        ),
    ],
)
def test_without_settings_the_first_provider_with_a_key_answers_else_the_embedded_model(
    environ: dict[str, str], choice: Choice
) -> None:
    assert chooser(environ).resolve() == choice


def test_a_login_and_a_stored_key_count_as_keys() -> None:
    login = Auth(logins={"nous": Grant("a", "r", 0)})
    stored = Auth(keys={"xai": (StoredKey("spare", "k"),)})
    assert chooser({"OPENAI_API_KEY": "k"}, login).resolve() == Choice("nous", "anthropic/claude-sonnet-5.5")
    assert chooser(auth=stored).resolve() == Choice("xai", "grok-4.7")


def test_a_bare_slug_goes_to_whoever_sells_it_and_has_a_key() -> None:
    assert chooser({"OPENROUTER_API_KEY": "k"}).resolve("x-ai/grok-4.7") == Choice("openrouter", "x-ai/grok-4.7")


@pytest.mark.parametrize(
    ("base_url", "sent"),
    [
        ("", ["sk-vendor"]),
        ("https://api.openai.com/v1", ["sk-vendor"]),
        ("https://API.openai.com:443/v2", ["sk-vendor"]),
        ("http://api.openai.com/v1", []),
        ("https://api.openai.com:8443/v1", []),
        ("https://api.openai.com.evil.example/v1", []),
        ("https://evil.example/api.openai.com/v1", []),
        ("https://api.openai.com@evil.example/v1", []),
        ("https://xapi.openai.com/v1", []),
        ("http://127.0.0.1:9/v1", []),
    ],
)
def test_a_vendors_key_goes_to_the_vendors_exact_origin_only(base_url: str, sent: list[str]) -> None:
    choose = chooser({"OPENAI_API_KEY": "sk-vendor"})
    choice = choose.resolve("openai:gpt-6-luna", base_url=base_url)
    assert [key.value for key in choose.keys(choice)] == sent


def test_a_key_that_the_settings_name_goes_where_they_say() -> None:
    choose = chooser({"OPENAI_API_KEY": "sk-vendor", "LAB_KEY": "sk-lab", "MINE": "sk-mine"})
    assert [key.value for key in choose.keys(MINE)] == ["sk-mine"]
    assert [key.value for key in choose.keys(choose.resolve("lab:tiny"))] == ["sk-lab"]
    named = choose.resolve("openai:gpt-6-luna", base_url="http://proxy/v1", api_key_env="OPENAI_API_KEY")
    assert [key.value for key in choose.keys(named)] == ["sk-vendor"]


def test_a_missing_key_is_one_line_that_says_what_to_set() -> None:
    error = no_key(CATALOG["gemini"])
    assert str(error) == "there is no key for Google Gemini: GEMINI_API_KEY or GOOGLE_API_KEY is not set"
    assert error.hint == "hermes config set GEMINI_API_KEY YOUR-KEY"
    assert no_key(CATALOG["nous"]).hint == "hermes auth add nous, or hermes config set NOUS_API_KEY YOUR-KEY"


@pytest.mark.parametrize("url", ["ftp://x", "localhost:8080/v1", "http://", "http://h:x"])
def test_an_address_that_is_none_is_refused_at_once(url: str):
    with pytest.raises(UserError, match=f"^{url} is no web address$"):
        chooser().resolve("m", base_url=url)
