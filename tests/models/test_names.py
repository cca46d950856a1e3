"""Names of models: as people type them, as each vendor wants them."""

import pytest

from hermes.models.catalog import Catalog, Facts
from hermes.models.names import facts_of, normalise
from hermes.protocol.errors import UserError


@pytest.fixture(scope="module")
def catalog() -> Catalog:
    return Catalog()


@pytest.mark.parametrize(
    ("vendor", "typed", "sent"),
    [
        ("anthropic", "claude-opus-5-5", "claude-opus-5-5"),
        ("anthropic", "claude-opus-5.5", "claude-opus-5-5"),
        ("anthropic", "anthropic/claude-opus-5.5", "claude-opus-5-5"),
        ("anthropic", "anthropic:claude-opus-5-5", "claude-opus-5-5"),
        ("anthropic", "claude-haiku-4-5-20251001", "claude-haiku-4-5-20251001"),
        ("openai", "openai/gpt-6.1-sol", "gpt-6.1-sol"),
        ("openai", "gpt-6.1-sol", "gpt-6.1-sol"),
        ("openai", "ft:gpt-6-luna:me::abc", "ft:gpt-6-luna:me::abc"),
        ("xai", "x-ai/grok-4.7", "grok-4.7"),
        ("minimax", "minimax-m3", "MiniMax-M3"),
        ("fireworks", "glm-5p3", "accounts/fireworks/models/glm-5p3"),
        ("fireworks", "accounts/me/models/mine", "accounts/me/models/mine"),
        ("groq", "openai/gpt-oss-120b", "openai/gpt-oss-120b"),
        ("nvidia", "nvidia/nemotron-3-ultra-550b-a55b", "nvidia/nemotron-3-ultra-550b-a55b"),
        ("together", "zai-org/glm-5.3", "zai-org/GLM-5.3"),
        ("ollama", "qwen3:8b", "qwen3:8b"),
        ("openrouter", "anthropic/claude-opus-5.5", "anthropic/claude-opus-5.5"),
        ("openrouter", "anthropic/claude-opus-5-5", "anthropic/claude-opus-5.5"),
        ("openrouter", "anthropic/claude-opus-4-20250514", "anthropic/claude-opus-4-20250514"),
        ("openrouter", "openrouter/anthropic/claude-opus-5.5", "anthropic/claude-opus-5.5"),
        ("openrouter", "openrouter/auto", "openrouter/auto"),
        ("openrouter", "claude-opus-5-5", "anthropic/claude-opus-5.5"),
        ("openrouter", "claude-opus-5.5", "anthropic/claude-opus-5.5"),
        ("openrouter", "kimi-k3", "moonshotai/kimi-k3"),
        ("openrouter", "deepseek/deepseek-r1:free", "deepseek/deepseek-r1:free"),
        ("nous", "glm-5.3", "z-ai/glm-5.3"),
        ("nous", "something-new", "something-new"),
    ],
)
def test_a_name_is_sent_as_its_vendor_wants_it(catalog: Catalog, vendor: str, typed: str, sent: str) -> None:
    assert normalise(typed, catalog[vendor], catalog) == sent


@pytest.mark.parametrize("vendor", ["nous", "openrouter", "anthropic", "minimax", "fireworks", "nvidia", "groq"])
def test_a_name_that_was_put_right_stays_right(catalog: Catalog, vendor: str) -> None:
    for model in (catalog[vendor].default, *catalog[vendor].models):
        assert normalise(model, catalog[vendor], catalog) == model


def test_where_no_list_can_be_asked_for_only_models_of_the_row_are_taken(catalog: Catalog) -> None:
    with pytest.raises(UserError, match="MiniMax has no model 'MiniMax-M9'") as raised:
        normalise("MiniMax-M9", catalog["minimax"], catalog)
    assert "MiniMax-M3" in raised.value.hint


def test_a_model_sold_by_another_has_its_makers_window_but_not_its_price(catalog: Catalog) -> None:
    assert facts_of("anthropic/claude-opus-5.5", catalog["openrouter"], catalog) == Facts(
        window=1_000_000, output=128_000
    )
    assert facts_of("claude-opus-5-5", catalog["anthropic"], catalog).prices is not None
    assert facts_of("someone/model", catalog["openrouter"], catalog) == Facts()
    assert facts_of("qwen3:8b", catalog["ollama"], catalog) == Facts()
