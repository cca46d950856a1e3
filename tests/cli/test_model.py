"""`hermes model`: which model answers, which others there are, whether one works, and switching."""

import re

import pytest

from hermes.cli.table import places
from tests.cli.command import Hermes, Ran
from tests.services.model_server import ModelServer
from tests.services.script import Reply, error


def point_at(hermes: Hermes, server: ModelServer, name: str = "scripted") -> None:
    hermes.write_config(f"model: {{provider: custom, name: {name}, base_url: {server.base_url}}}\n")


# What there is


@pytest.mark.parametrize(
    ("config", "environ", "first"),
    [
        ("", {}, "local:qwen2.5-coder-1.5b  (nothing is set and there is no key: the embedded model, a basic mode)"),
        ("", {"XAI_API_KEY": "k"}, "xai:grok-4.7  (nothing is set: the first provider with a key)"),
        ("model: openai:gpt-6", {}, "openai:gpt-6  (set in CONFIG)"),
        ("model: openai:gpt-6", {"HERMES_MODEL": "xai:grok-4.7"}, "xai:grok-4.7  (from HERMES_MODEL)"),
    ],
)
def test_the_current_model_is_shown_with_the_reason(
    hermes: Hermes, config: str, environ: dict[str, str], first: str
) -> None:
    hermes.write_config(config)
    shown = hermes("model", **environ)
    assert (shown.code, shown.out.splitlines()[0]) == (0, first.replace("CONFIG", str(hermes.config)))


def test_every_provider_is_listed_with_its_keys_and_the_usable_ones_first(hermes: Hermes) -> None:
    hermes.write_config("custom_providers:\n  lab: {base_url: http://127.0.0.1:9/v1, api_key_env: LAB_KEY}\n")
    rows = [line.split("\t") for line in hermes("model", XAI_API_KEY="a", XAI_API_KEY_2="b").out.splitlines()[1:]]
    table = {row[0]: row[1:] for row in rows}
    assert rows[0] == ["xai", "XAI_API_KEY, XAI_API_KEY_2", "grok-4.7"]
    assert table["ollama"] == ["needs none", ""]
    assert table["nous"][0] == "no NOUS_API_KEY, or hermes auth add nous"
    assert table["gemini"][0] == "no GEMINI_API_KEY or GOOGLE_API_KEY"
    assert table["custom:lab"][0] == "no LAB_KEY"


def test_a_model_in_the_place_of_a_provider_is_told_how_to_use_it(hermes: Hermes) -> None:
    assert hermes("model", "openai:gpt-6") == Ran(
        2, "", "hermes: openai:gpt-6 is a model, not a provider (to use it: hermes model set openai:gpt-6)\n"
    )


def test_the_list_fits_a_terminal(hermes: Hermes) -> None:
    lines = hermes.terminal("model").out.splitlines()
    assert lines[1].split() == ["provider", "key", "default", "model"]
    assert max(places(line) for line in lines[1:]) <= 80


def test_a_setting_that_names_nobody_still_shows_the_list(hermes: Hermes) -> None:
    hermes.write_config("model: opnai:gpt-6\n")
    shown = hermes("model")
    assert (shown.code, shown.err) == (2, "hermes: there is no provider 'opnai' (did you mean openai?)\n")
    assert len(shown.out.splitlines()) > 20


async def test_the_models_of_a_provider_are_those_its_server_lists(hermes: Hermes) -> None:
    async with ModelServer(models=["b", "a"]) as server:
        point_at(hermes, server)
        listed = [await hermes.beside("model", *words) for words in (["custom"], ["list"], ["list", "custom"])]
        assert listed == [Ran(0, "a\nb\n")] * 3


async def test_the_models_of_an_endpoint_of_ones_own_are_found_by_its_name(hermes: Hermes) -> None:
    async with ModelServer(models=["a"]) as server:
        hermes.write_config(f"custom_providers:\n  lab: {{base_url: {server.base_url}, api_key_env: LAB_KEY}}\n")
        assert await hermes.beside("model", "lab", LAB_KEY="k") == Ran(0, "a\n")
        assert await hermes.beside("model", "custom:lab", LAB_KEY="k") == Ran(0, "a\n")
        assert server.last.headers["authorization"] == "Bearer k"
    lost = await hermes.beside("model", "lab", LAB_KEY="k")
    assert (lost.code, lost.err.count("\n")) == (1, 1)
    assert lost.err.startswith("hermes: cannot ask 127.0.0.1 for its models: ")


def test_a_provider_without_a_key_or_without_a_row_is_one_line(hermes: Hermes) -> None:
    assert hermes("model", "xai") == Ran(
        2, "", "hermes: there is no key for xAI: XAI_API_KEY is not set (hermes config set XAI_API_KEY YOUR-KEY)\n"
    )
    assert hermes("model", "opnai").err == "hermes: there is no provider 'opnai' (did you mean openai?)\n"
    assert hermes("model", "local") == Ran(0, "qwen2.5-coder-1.5b\n")


# check


async def test_check_makes_one_call_and_says_how_long_it_took(hermes: Hermes) -> None:
    async with ModelServer([Reply("yes")]) as server:
        point_at(hermes, server)
        ran = await hermes.beside("model", "check")
        assert (ran.code, len(server.requests), server.violations) == (0, 1, [])
    pattern = (
        r"custom:scripted answers: first sign after \d\.\d\d s, done after \d\.\d\d s "
        r"\(10 tokens in, 5 out, price unknown\)\n"
    )
    assert re.fullmatch(pattern, ran.out)


async def test_check_asks_the_model_that_is_named(hermes: Hermes) -> None:
    async with ModelServer([Reply("yes")]) as server:
        point_at(hermes, server)
        assert (await hermes.beside("model", "check", "other")).out.startswith("custom:other answers")
        assert server.last.body["model"] == "other"


@pytest.mark.parametrize("what", ["invalid_key", "no_model", "html_page", "overloaded"])
async def test_what_the_provider_says_is_wrong_is_one_line(hermes: Hermes, what: str) -> None:
    async with ModelServer([error(what)]) as server:  # pyright: ignore[reportArgumentType]
        point_at(hermes, server)
        ran = await hermes.beside("model", "check")
        assert (ran.code, ran.out, ran.err.count("\n")) == (1, "", 1)
        assert ran.err.startswith("hermes: ")


# set


def test_set_writes_a_string_where_there_was_none_or_a_string(hermes: Hermes) -> None:
    assert hermes("model", "set", "openai:gpt-6", OPENAI_API_KEY="k") == Ran(0, "model: openai:gpt-6\n")
    assert hermes.config.read_text() == "model: openai:gpt-6\n"
    hermes.write_config("# mine\nmodel: openai:gpt-6  # good\ntimezone: UTC\n")
    assert hermes("model", "set", "xai:grok-4.7", XAI_API_KEY="k").code == 0
    assert hermes.config.read_text() == "# mine\nmodel: xai:grok-4.7  # good\ntimezone: UTC\n"


def test_set_keeps_a_mapping_and_drops_the_address_of_another_provider(hermes: Hermes) -> None:
    hermes.write_config(
        "model:\n  # my desk\n  provider: custom\n  name: a\n  base_url: http://127.0.0.1:9/v1\n  api_key_env: DESK_KEY\n"
    )
    assert hermes("model", "set", "b", DESK_KEY="k") == Ran(0, "model: custom:b\n")
    assert hermes.config.read_text() == (
        "model:\n  # my desk\n  provider: custom\n  name: b\n  base_url: http://127.0.0.1:9/v1\n  api_key_env: DESK_KEY\n"
    )
    assert hermes("model", "set", "openai:gpt-6", OPENAI_API_KEY="k") == Ran(0, "model: openai:gpt-6\n")
    assert hermes.config.read_text() == "model:\n  # my desk\n  provider: openai\n  name: gpt-6\n"


async def test_what_was_set_is_what_answers(hermes: Hermes) -> None:
    async with ModelServer([Reply("yes")]) as server:
        hermes.write_config(f"custom_providers:\n  lab: {{base_url: {server.base_url}}}\nmodel: {{provider: openai}}\n")
        assert await hermes.beside("model", "set", "custom:lab:tiny") == Ran(0, "model: custom:lab:tiny\n")
        assert (await hermes.beside("model", "check")).out.startswith("custom:lab:tiny answers")
        assert server.last.body["model"] == "tiny"


def test_set_warns_of_what_would_stop_the_next_session(hermes: Hermes) -> None:
    assert hermes("model", "set", "openai:gpt-6").err == (
        "hermes: there is no key for OpenAI: OPENAI_API_KEY is not set (hermes config set OPENAI_API_KEY YOUR-KEY)\n"
    )
    assert hermes("model", "set", "local", HERMES_MODEL="xai:grok").err == (
        "hermes: HERMES_MODEL is set and is used before config.yaml (unset HERMES_MODEL)\n"
    )


def test_set_mends_a_model_that_nobody_has(hermes: Hermes) -> None:
    hermes.write_config("model: opnai:gpt-6\n")
    assert hermes("model", "set", "opnai:gpt-7").code == 2
    assert hermes("model", "set", "openai:gpt-6", OPENAI_API_KEY="k") == Ran(0, "model: openai:gpt-6\n")
    assert hermes.config.read_text() == "model: openai:gpt-6\n"


@pytest.mark.parametrize("words", [["set"], ["check", "a", "b"], ["set", "a", "b"], ["xai", "b"]])
def test_words_that_make_no_sense_are_one_line(hermes: Hermes, words: list[str]) -> None:
    assert hermes("model", *words) == Ran(
        2, "", f"hermes: cannot read {' '.join(words)!r} (hermes model --help shows the forms)\n"
    )


# Asking anew


async def test_refresh_asks_everybody_who_can_be_called(hermes: Hermes) -> None:
    assert hermes_refused(await hermes.beside("model", "--refresh"))
    async with ModelServer(models=["a", "b"]) as server:
        hermes.write_config(f"custom_providers: {{lab: {{base_url: '{server.base_url}'}}}}\n")
        assert await hermes.beside("model", "--refresh") == Ran(0, "custom:lab\t2 models\n")
    ran = await hermes.beside("model", "--refresh")
    assert (ran.code, ran.out, ran.err.startswith("hermes: custom:lab was not asked: ")) == (1, "", True)


def hermes_refused(ran: Ran) -> bool:
    return (ran.code, ran.out) == (1, "") and ran.err.startswith("hermes: there is nobody to ask (")
